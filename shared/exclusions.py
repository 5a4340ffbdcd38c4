"""Built-in exclusions: what no owner would call part of the project, told by name (pure).

Three tables: folders out by their name alone, folders out only with evidence (a `dist/` may be a build's output or all
there is in a published package), and files. What a table cannot know, content decides later (`shared/decoding.py`).
"""

from __future__ import annotations

from collections.abc import Callable


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Version control, dependencies, caches and build output that bear their tool's own name.
_FOLDERS = _words("""
    .git .hg .svn .bzr cvs _darcs .jj .sl .pijul .fossil-settings node_modules bower_components jspm_packages
    web_modules .pnpm-store .yarn .npm site-packages dist-packages __pypackages__ .eggs .venv .virtualenv
    .bundle .pub-cache .dart_tool .m2 .ivy2 .nuget .stack-work elm-stuff carthage pods .cocoapods deriveddata
    __pycache__ .tox .nox .mypy_cache .pytest_cache .ruff_cache .hypothesis .pytype .pyre .ipynb_checkpoints
    .gradle .bloop .metals .bsp .kotlin .terraform .terragrunt-cache .serverless .aws-sam cdk.out .vagrant .next
    .nuxt .output .svelte-kit .angular .astro .docusaurus .parcel-cache .turbo .vite .expo .nx .rollup.cache
    .sass-cache .eslintcache .nyc_output .cache .ccls-cache .clangd .zig-cache zig-cache zig-out .direnv .devenv
    .pixi .vs .kx .obsidian .trash .trash-1000 .spotlight-v100 .fseventsd __macosx
""")
_FOLDER_TAILS = (".egg-info", ".xcodeproj", ".xcassets", ".photoslibrary", ".dsym")

# A file or folder inside that gives a folder of any name away.
_MARKERS = ("CACHEDIR.TAG", "pyvenv.cfg", "conda-meta")

# Folder name: any of these inside means output or copies of dependencies.
_EVIDENCE: dict[str, tuple[str, ...]] = {
    "build": (
        "CMakeCache.txt", "CMakeFiles", "build.ninja", "meson-info", "bdist.linux-x86_64", "intermediates", "libs", "classes",
    ),
    "cmake-build-debug": ("CMakeCache.txt",),
    "cmake-build-release": ("CMakeCache.txt",),
    "target": (".rustc_info.json", "maven-status", "maven-archiver", "surefire-reports", "generated-sources"),
    "out": ("production", "artifacts", "build.ninja", "args.gn", "_next"),
    "obj": ("project.assets.json", "Debug", "Release"),
    "bin": ("Debug", "Release"),
    "vendor": ("modules.txt", "autoload.php", "bundle"),
    ".pc": (".version", "applied-patches"),  # what quilt keeps of the files that Debian patches
    "_build": ("doctrees", "html/_static", "prod", "dev", "default", "log"),
    ".build": ("debug", "release", "checkouts", "artifacts"),
    "coverage": ("lcov.info", "lcov-report", "coverage-final.json", "clover.xml"),
    "htmlcov": ("index.html", "status.json"),
    "env": ("bin/activate", "Scripts/activate"),
    "venv": ("bin/activate", "Scripts/activate"),
}  # fmt: skip

# Folder name: output when all of these stand beside it, so that the source is there to be read instead.
_BESIDE: dict[str, tuple[tuple[str, ...], ...]] = {
    "dist": (
        ("package.json", "src"),
        ("package.json", "lib"),
        ("package.json", "source"),
        ("pyproject.toml",),
        ("setup.py",),
    ),
    "out": (("package.json", "src"),),
    "target": (("Cargo.toml",), ("pom.xml",), ("build.sbt",)),
    "build": (("pyproject.toml", "build/lib"), ("setup.py", "build/lib"), ("build.gradle",), ("build.gradle.kts",)),
}


def _signs() -> dict[str, list[tuple[str, str, str]]]:
    """List what gives folders away by the last part of its name: (path from the judged or its parent, folder, where)."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    inside = [("", marker) for marker in _MARKERS]
    inside += [(folder, marker) for folder, markers in _EVIDENCE.items() for marker in markers]
    beside = [(folder, sign) for folder, groups in _BESIDE.items() for group in groups for sign in group]
    for where, pairs in (("inside", inside), ("beside", beside)):
        for folder, sign in pairs:
            parts = sign.split("/")
            for depth in range(1, len(parts) + 1):  # a folder that comes whole makes one event
                found.setdefault(parts[depth - 1], []).append(("/".join(parts[:depth]), folder, where))
    return found


_SIGNS = _signs()

_LOCK_FILES = _words("""
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock cargo.lock
    poetry.lock pipfile.lock uv.lock pdm.lock pixi.lock pylock.toml conda-lock.yml gemfile.lock composer.lock
    symfony.lock go.sum go.work.sum flake.lock mix.lock rebar.lock pubspec.lock podfile.lock cartfile.resolved
    package.resolved gradle.lockfile packages.lock.json project.assets.json paket.lock stack.yaml.lock
    cabal.project.freeze .terraform.lock.hcl chart.lock manifest-v1.json shard.lock buf.lock module.bazel.lock
    .package-lock.json
""")
_JUNK = _words("""
    .ds_store thumbs.db ehthumbs.db desktop.ini .localized .eslintcache .stylelintcache
""")

_INSTALL_RECORDS = _words("record installer requested wheel direct_url.json top_level.txt")

_BINARY = """
    exe dll so dylib a o obj elf class jar war ear aar dex apk aab ipa pyc pyo pyd whl egg gem nupkg vsix crx xpi
    wasm pdb ilk idb ncb suo pch gch node beam dyn_o dyn_hi cmi cmo cmx cmxa cma rlib rmeta swiftmodule nib
    zip gz tgz bz2 tbz2 xz txz zst lz lz4 lzma 7z rar tar cab deb rpm dmg pkg msi iso img vhd vhdx vmdk qcow2 ova bin
    db sqlite sqlite3 db3 sqlite-wal sqlite-shm mdb accdb ldb sst frm myd myi ibd dbf rdb parquet feather arrow orc avro
    onnx safetensors ckpt h5 hdf5 keras tflite pb gguf ggml npy npz pkl pickle joblib rds rdata dta
    swp swo der gmo qm pack idx pyz pcap pcapng dmp hprof blend fbx glb stl 3ds dwg dxf skp unitypackage
    """
_MEDIA = """
    png jpg jpeg jpe jfif gif bmp dib ico icns webp avif heic heif tif tiff tga dds exr hdr psd psb ai sketch
    xcf svg svgz cr2 nef arw dng pbm pgm ppm pnm ras sgi fits au aifc voc mp3 wav flac ogg oga opus m4a aac wma aif aiff mid midi mp4 m4v mov avi mkv webm wmv
    flv mpg mpeg 3gp ogv woff woff2 ttf otf eot ttc fon pfb pfm swf
    """
# Of other formats than those that are extracted (shared/kinds.py).
_DOCUMENTS = "doc ppt xls odt ods odp rtf epub mobi azw3 djvu ps chm"

_GENERATED_TAILS = {
    ".min.js": "minified",
    ".min.mjs": "minified",
    ".min.cjs": "minified",
    ".min.css": "minified",
    ".min.map": "source map",
    ".js.map": "source map",
    ".mjs.map": "source map",
    ".cjs.map": "source map",
    ".css.map": "source map",
    ".ts.map": "source map",
    "~": "editor backup",
}
_TAILS = tuple(_GENERATED_TAILS)

_BY_EXTENSION = {
    extension: what
    for what, words in (("binary", _BINARY), ("media", _MEDIA), ("document", _DOCUMENTS))
    for extension in words.split()
}


def excluded_folder(name: str, inside: Callable[[str], bool], beside: Callable[[str], bool]) -> str | None:
    """Say why a folder is not part of the project, or None.

    `inside` and `beside` tell whether a path exists in the folder, or in the one that holds it.
    """
    lower = name.lower()
    if lower in _FOLDERS or lower.endswith(_FOLDER_TAILS):
        return name
    for marker in _EVIDENCE.get(lower, ()):
        if inside(marker):
            return f"{name} with {marker} in it"
    for group in _BESIDE.get(lower, ()):
        if all(beside(neighbour) for neighbour in group):
            return f"{name} beside {' and '.join(group)}"
    for marker in _MARKERS:
        if inside(marker):
            return f"{marker} in it"
    return None


def judged_by(path: str) -> list[str]:
    """Name the folders that `excluded_folder` may judge otherwise once something came or went at `path`.

    >>> judged_by("a/pyvenv.cfg"), judged_by("web/package.json"), judged_by("a/b.md")
    (['a'], ['web/dist', 'web/out'], [])
    """
    found: list[str] = []
    for sign, folder, where in _SIGNS.get(path.rpartition("/")[2], ()):
        if path != sign and not path.endswith("/" + sign):
            continue
        place = path[: -len(sign)].rstrip("/")
        if where == "beside":
            found.append(f"{place}/{folder}" if place else folder)
        elif place and folder in {"", place.rpartition("/")[2].lower()}:
            found.append(place)
    return list(dict.fromkeys(found))


def excluded_text(language: str, text: str) -> str | None:
    r"""Say why a text that was read is no text of the project, or None: a lock file by another name.

    >>> excluded_text("requirements", "a==1 --hash=sha256:00\nb==2 --hash=sha256:11\n")
    'lock file (hashes)'
    """
    if language != "requirements":
        return None
    return "lock file (hashes)" if 2 * text.count("--hash=") > text.count("\n") else None


def excluded_file(path: str) -> str | None:
    """Say why a file is no text of the project by its name, or None.

    >>> excluded_file("img/logo.PNG")
    'media (.png)'
    """
    folder, _, name = path.rpartition("/")
    lower = name.lower()
    extension = lower[lower.rfind(".") + 1 :]
    what = _BY_EXTENSION.get(extension)
    if what is not None and extension != lower:
        return f"{what} (.{extension})"
    if lower in _LOCK_FILES:
        return "lock file"
    if lower.endswith(_TAILS):
        return next(what for tail, what in _GENERATED_TAILS.items() if lower.endswith(tail))
    if lower in _INSTALL_RECORDS and folder.endswith(".dist-info"):
        return "record of an installer"
    if lower in _JUNK:
        return "system file"
    return None
