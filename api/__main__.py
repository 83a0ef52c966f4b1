"""``python -m ontodex`` is the command ``ontodex``."""

from ontodex.cli.app import main

if __name__ == "__main__":
    main()
