"""``python -m ontodex`` is the command ``ontodex``."""

from ontodex.cli import main

if __name__ == "__main__":
    main()
