"""Mappings of XML vocabularies, one YAML file each; see ``ontodex.readers.xml_tables``."""
