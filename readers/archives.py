"""Zip and tar archives: unpacked to temporary folders while they are read."""

from __future__ import annotations

import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from types import TracebackType
from typing import IO

from ontodex.errors import ReadError
from ontodex.readers.files import FREE, MOST_TIMES, head_of, names_in_zip, opened
from ontodex.readers.tables.workbooks import CONTENT

__all__ = ["Archives", "innermost", "is_archive"]

USTAR = slice(257, 262), b"ustar"
"""Position of the magic bytes of a tar file, and the magic bytes."""

DOCUMENTS = (CONTENT, "mimetype", "[Content_Types].xml")
"""Members of a zip file that show that it is an office document or an EPUB book."""

ASIDE = "__MACOSX"
"""A folder of metadata that macOS adds to zip files."""

MOST_FILES = 10_000
PIECE = 1 << 20
"""Number of bytes that are copied at once."""


def is_archive(path: Path) -> bool:
    """Tell whether a file is a zip or tar archive, compressed or not, but no office document."""
    if names := names_in_zip(path):
        return not any(name in names for name in DOCUMENTS)
    try:
        return head_of(path)[USTAR[0]] == USTAR[1]
    except ReadError:
        return False


def innermost(path: Path) -> Path:
    """Descend through folders whose only content is one folder, and return the last folder.

    Hidden files are ignored. A path that is not such a folder is returned unchanged.
    """
    while (
        path.is_dir()
        and len(found := [one for one in path.iterdir() if not one.name.startswith(".")]) == 1
    ):
        if not found[0].is_dir():
            break
        path = found[0]
    return path


class Archives:
    """Context in which archives are unpacked to temporary folders.

    Error messages and sources name the unpacked files as members of their archives.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder, Archives() as archives:
        ...     with zipfile.ZipFile(f"{folder}/pets.zip", "w") as archive:
        ...         archive.writestr("pets/dogs.tsv", "")
        ...         archive.writestr("pets/cats.tsv", "")
        ...     inside = archives.unpacked(Path(folder, "pets.zip"))
        ...     name = archives.named(str(inside))
        ...     sorted(path.name for path in inside.iterdir()), name == f"{folder}/pets.zip/pets"
        (['cats.tsv', 'dogs.tsv'], True)
    """

    def __init__(self) -> None:
        self._folders: list[tempfile.TemporaryDirectory[str]] = []
        self._names: dict[str, str] = {}

    def __enter__(self) -> Archives:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if isinstance(error, ReadError):
            error.source = self.named(error.source)
            error.args = (self.named(str(error)),)
        for folder in self._folders:
            folder.cleanup()

    def named(self, text: str) -> str:
        """Replace paths of unpacked files in a text by the path of the archive and the member."""
        for folder, name in self._names.items():
            text = text.replace(folder, name)
        return text

    def unpacked(self, path: Path) -> Path:
        """Unpack an archive; return the folder, or the file if the archive has only one.

        Hidden members are left out. Archives inside an archive are not unpacked. A path that is not
        an archive is returned unchanged.

        Raises:
            ReadError: If the archive is damaged, encrypted or empty, has member names that lead out
                of the folder, has more than 10,000 files, or unpacks to more than a hundred times
                its size.
        """
        if any(path.is_relative_to(folder) for folder in self._names) or not is_archive(path):
            return path
        folder = tempfile.TemporaryDirectory(prefix="ontodex-")
        self._folders.append(folder)
        self._names[folder.name] = str(path)
        with _unpacking(path):
            _unpack(path, Path(folder.name))
        inside = innermost(Path(folder.name))
        found = [*inside.iterdir()]
        if not found:
            raise ReadError("expected an archive with files, found an empty one", str(path))
        return found[0] if len(found) == 1 else inside


@contextmanager
def _unpacking(path: Path) -> Iterator[None]:
    """Turn the errors of unpacking into a :class:`ReadError`."""
    try:
        yield
    except ReadError:
        raise
    except OSError as error:
        raise ReadError(
            f"expected an archive that can be unpacked: {error.strerror or error}", str(path)
        ) from None
    except Exception as error:  # the libraries raise many kinds of exceptions
        raise ReadError(
            f"expected an archive, found a damaged or locked one ({error})", str(path)
        ) from None


def _unpack(path: Path, folder: Path) -> None:
    """Unpack an archive into a folder, within the limits on size and number of files."""
    left = max(FREE, MOST_TIMES * path.stat().st_size)
    for number, (name, content) in enumerate(_members(path)):
        place = PureWindowsPath(name)  # parses both kinds of slashes
        if place.drive or place.root or ".." in place.parts:
            raise ReadError(
                f"expected names inside the archive, found {name!r}; refused", str(path)
            )
        if number == MOST_FILES:
            raise ReadError(
                f"expected at most {MOST_FILES:,} files, found more; unpack it and read the folder",
                str(path),
            )
        if (
            not place.parts
            or place.parts[0] == ASIDE
            or any(part.startswith(".") for part in place.parts)
        ):
            continue
        file = folder.joinpath(*place.parts)
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("xb") as made:
            while piece := content.read(PIECE):
                left -= len(piece)
                if left < 0:
                    raise ReadError(
                        f"expected an archive of at most {MOST_TIMES} times its size, found one "
                        "that grows beyond; if you trust it, unpack it and read the folder",
                        str(path),
                    )
                made.write(piece)


def _members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield name and content of each file in an archive."""
    if names_in_zip(path):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    with archive.open(entry) as stream:
                        yield entry.filename, stream
    else:
        with opened(path) as unzipped, tarfile.open(fileobj=unzipped, mode="r|") as bundle:
            for member in bundle:
                if member.isreg() and (content := bundle.extractfile(member)) is not None:
                    yield member.name, content
