import sys

from allowance.cli import main

if __name__ == "__main__":
    sys.exit(main())
