"""Archives, zip and tar, unpacked for as long as they are read."""

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
"""Where a tar file says that it is one."""

DOCUMENTS = (CONTENT, "mimetype", "[Content_Types].xml")
"""What workbooks, other documents of an office, and books hold: they are zip files, and no archives."""

ASIDE = "__MACOSX"
"""A folder that macOS puts into zip files, of what it notes about the others."""

MOST_FILES = 10_000
PIECE = 1 << 20


def is_archive(path: Path) -> bool:
    """Tell whether a file is a zip or tar archive (perhaps gzipped), and no workbook or other document."""
    if names := names_in_zip(path):
        return not any(name in names for name in DOCUMENTS)
    try:
        return head_of(path)[USTAR[0]] == USTAR[1]
    except ReadError:
        return False


def innermost(path: Path) -> Path:
    """Return the folder in a folder that holds nothing else but what is hidden, however deep; any other path as it is."""
    while (
        path.is_dir()
        and len(found := [one for one in path.iterdir() if not one.name.startswith(".")]) == 1
    ):
        if not found[0].is_dir():
            break
        path = found[0]
    return path


class Archives:
    """Unpacks archives into folders that are there as long as the context is, and names what is in them after them.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder, Archives() as archives:
        ...     with zipfile.ZipFile(f"{folder}/pets.zip", "w") as archive:
        ...         archive.writestr("pets/dogs.tsv", "")
        ...         archive.writestr("pets/cats.tsv", "")
        ...     inside = archives.unpacked(Path(folder, "pets.zip"))
        ...     sorted(path.name for path in inside.iterdir()), archives.named(str(inside)) == f"{folder}/pets.zip/pets"
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
        """Return a text that names unpacked files as what they are in their archives."""
        for folder, name in self._names.items():
            text = text.replace(folder, name)
        return text

    def unpacked(self, path: Path) -> Path:
        """Return what an archive holds, a folder or, if that is all, a file; a path to anything else as it is.

        What is hidden is left out. An archive inside another one stays packed.

        Raises:
            ReadError: If it is damaged or locked, holds nothing, or has names that lead out of it, or more than ten thousand
                files, or unpacks to a hundred times its size.
        """
        if any(path.is_relative_to(folder) for folder in self._names) or not is_archive(path):
            return path
        folder = tempfile.TemporaryDirectory(prefix="ontodex-")
        self._folders.append(folder)
        self._names[folder.name] = str(path)
        with _resolution(path):
            _unpack(path, Path(folder.name))
        inside = innermost(Path(folder.name))
        found = [*inside.iterdir()]
        if not found:
            raise ReadError("expected an archive with files, found an empty one", str(path))
        return found[0] if len(found) == 1 else inside


@contextmanager
def _resolution(path: Path) -> Iterator[None]:
    """Turn what goes wrong with an archive into an error that says so."""
    try:
        yield
    except ReadError:
        raise
    except OSError as error:
        raise ReadError(
            f"expected an archive that can be unpacked: {error.strerror or error}", str(path)
        ) from None
    except Exception as error:  # of any kind: so do the libraries that unpack
        raise ReadError(
            f"expected an archive, found a damaged or locked one ({error})", str(path)
        ) from None


def _unpack(path: Path, folder: Path) -> None:
    left = max(FREE, MOST_TIMES * path.stat().st_size)
    for number, (name, content) in enumerate(_members(path)):
        place = PureWindowsPath(name)  # it knows both slashes
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
                        f"expected an archive of at most {MOST_TIMES} times its size, found one that grows beyond; "
                        "if you trust it, unpack it and read the folder",
                        str(path),
                    )
                made.write(piece)


def _members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the names and contents of the files in an archive."""
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
