"""Nothing of Linux is assumed: platform modules are guarded, text files say how they are written, and the package runs
where Linux's own modules are hidden and files behave as on Windows. (It was never run on Windows itself by us.)"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sudare

PACKAGE = Path(sudare.__file__).parent
ONE_PLATFORM = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "msvcrt", "winreg", "_winapi"}
POSIX_ONLY = {
    "os": {"getuid", "geteuid", "getgid", "fork", "killpg", "setsid", "getpgid", "O_DIRECTORY", "sched_getaffinity",
           "sysconf", "statvfs", "chown", "mkfifo", "pread", "pwrite", "O_NOFOLLOW", "O_CLOEXEC", "EX_OK", "WNOHANG"},
    "signal": {"SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGALRM", "alarm", "setitimer", "sigwait",
               "pthread_sigmask", "pthread_kill", "SIGCHLD", "SIGPIPE"},
    "socket": {"AF_UNIX", "socketpair", "SO_REUSEPORT"},
}  # fmt: skip


def guarded(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a platform is asked for above it, in its function, or what is missing there is caught."""
    above: ast.AST | None = node
    while above is not None:
        if isinstance(above, ast.Try) and any(
            "ImportError" in ast.unparse(each.type or above) for each in above.handlers
        ):
            return True
        if isinstance(above, ast.If | ast.IfExp) and "sys.platform" in ast.unparse(above.test):
            return True
        if isinstance(above, ast.FunctionDef) and "sys.platform ==" in ast.unparse(above):
            return True
        above = parents.get(above)
    return False


def assumptions(tree: ast.Module) -> Iterator[str]:
    """What a module takes for granted and only some systems have."""
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    for node in ast.walk(tree):
        named: list[str] = []
        if isinstance(node, ast.Import):
            named = [f"import {alias.name}" for alias in node.names if alias.name.partition(".")[0] in ONE_PLATFORM]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in ONE_PLATFORM:
            named = [f"import {node.module}"]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in POSIX_ONLY.get(node.value.id, ()):
                named = [f"{node.value.id}.{node.attr}"]
        elif isinstance(node, ast.Call):
            yield from text_file(node)
        if named and not guarded(node, parents):
            yield from (f"{each}, line {node.lineno}" for each in named)


def text_file(call: ast.Call) -> Iterator[str]:
    """A file opened as text without its encoding, or written without its line ends: both differ between systems."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = {keyword.arg for keyword in call.keywords}
    modes = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    mode = next((each for each in modes if each and set(each) <= set("rwxabt+")), "")
    writes = name == "write_text" or (name in ("open", "fdopen") and bool(set(mode) & set("wxa")) and "b" not in mode)
    reads = name == "read_text" and isinstance(call.func, ast.Attribute)
    if (writes or reads) and "encoding" not in given:
        yield f"{name} without its encoding, line {call.lineno}"
    if writes and "newline" not in given:
        yield f"{name} without its line ends, line {call.lineno}"
    if name in ("Popen", "run") and given & {"text", "universal_newlines"} and "encoding" not in given:
        yield f"the output of a program as text without its encoding, line {call.lineno}"


RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


def is_no_name_on_windows(path: str) -> bool:
    """Whether a part of a path cannot be made there: a repository that holds it cannot be checked out."""
    return any(
        set(part) & set('<>:"|?*\\') or min(part) < " " or part[-1] in ". " or RESERVED.fullmatch(part)
        for part in path.split("/")
    )


def test_every_tracked_file_has_a_name_on_windows():
    root = Path(__file__).parents[2]
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git, or no repository")
    names = [name for name in listed.decode().split("\0") if name]
    assert [name for name in names if is_no_name_on_windows(name)] == []
    folded = [name.casefold() for name in names]
    assert len(set(folded)) == len(folded), "two names that differ in case only are one there"


@pytest.mark.parametrize("name", ["a:b", "a/b?", "x.", "x /y", "nul", "a/AUX.txt", "com1", 'a"b', "a\tb"])
def test_a_name_that_windows_forbids_is_found(name):
    assert is_no_name_on_windows(name)
    assert not is_no_name_on_windows("src/console.py")


@pytest.mark.parametrize("folder", sorted({path.parent for path in PACKAGE.rglob("*.py")}), ids=lambda path: path.name)
def test_no_module_assumes_a_platform(folder):
    for path in folder.glob("*.py"):
        assert list(assumptions(ast.parse(path.read_text(encoding="utf-8")))) == [], path.name


@pytest.mark.parametrize(
    "text",
    ["import fcntl", "from resource import getrlimit", "def f():\n    import pwd", "os.getuid()", "signal.SIGKILL",
     "path.write_text(x)", "path.write_text(x, encoding='utf-8')", "path.read_text()", "open('x', 'w', encoding='a')",
     "subprocess.run(x, text=True)"],
)  # fmt: skip
def test_what_is_assumed_is_found(text):
    assert list(assumptions(ast.parse(text)))
    around = "if sys.platform != 'win32':\n    " + text.replace("\n", "\n    ")
    assert text.startswith(("path", "open", "sub")) or not list(assumptions(ast.parse(around)))


AS_ON_WINDOWS = """
import ctypes, errno, fcntl, importlib, os, pkgutil, shutil, signal, sys, types
from pathlib import Path
import httpx, sudare

names = sorted(found.name for found in pkgutil.walk_packages(sudare.__path__, "sudare."))
for name in names:  # for the libraries that they import: these decide for themselves which system this is
    importlib.import_module(name)
for name in [name for name in sys.modules if name == "sudare" or name.startswith("sudare.")]:
    del sys.modules[name]

def locking(handle, mode, count):
    try:
        flock(handle, 6)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None

def is_open(path):
    path = os.path.realpath(path)
    for handle in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{handle}") == path:
                return True
        except OSError:
            continue
    return False

flock, flags = fcntl.flock, fcntl.fcntl
real = {name: getattr(os, name) for name in ("open", "unlink", "rename", "replace", "kill", "fsync")}
stand_in = types.ModuleType("msvcrt")
stand_in.locking, stand_in.LK_NBLCK = locking, 2

def open_file(path, *rest, **more):
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return real["open"](path, *rest, **more)

def unlink(path, **more):
    if is_open(path):
        raise PermissionError(errno.EACCES, "The process cannot access the file", path)
    real["unlink"](path, **more)

def moved(name):
    def move(source, target, **more):
        if name == "rename" and os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "Cannot create a file when that file already exists", target)
        if is_open(source) or is_open(target):
            raise PermissionError(errno.EACCES, "The process cannot access the file", source)
        real[name](source, target, **more)
    return move

def fsync(handle):
    if flags(handle, fcntl.F_GETFL) & 3 == 0:
        raise OSError(errno.EBADF, "Bad file descriptor")
    real["fsync"](handle)

def kill(process, number):
    assert number in (signal.SIGTERM,), "Windows takes 0 for Ctrl-C"
    real["kill"](process, number)

os.open, os.unlink, os.remove, os.fsync, os.kill = open_file, unlink, unlink, fsync, kill
os.rename, os.replace = moved("rename"), moved("replace")
shutil._use_fd_functions = False
for module in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[module] = None
sys.modules["msvcrt"] = stand_in
ctypes.WinDLL = lambda name: types.SimpleNamespace(GlobalMemoryStatusEx=lambda status: 0)
for name in ("getuid", "geteuid", "fork", "killpg", "setsid", "O_NOFOLLOW"):
    delattr(os, name)
del signal.SIGKILL, signal.SIGHUP
sys.platform = "win32"

for name in names:
    importlib.import_module(name)

import asyncio
from sudare.workflow import draw_report, publish, verify
from sudare.studio.access import Access
from sudare.studio.service import StudioService
from sudare.studio.guards import Guard
from sudare.studio.app import create_app
from sudare.studio.worker import run
from sudare.studio.workspace import Workspace

recipe = Path(sys.argv[1])
made = publish(recipe)
assert made.left_out == (), made.left_out
assert not [check for check in verify(made.folder).reports.remarks]
assert draw_report(made.folder, language="ja", key=recipe.parent / "publisher.pem").certified

async def studio():
    workspace = Workspace.open(recipe)
    desk, access = StudioService(workspace), Access()
    app = Guard(create_app(desk, access), access, frozenset({"127.0.0.1:8400"}))
    address = "http://127.0.0.1:8400"
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=address) as client:
        client.headers["origin"] = address
        opened = await client.post("/api/session", json={"token": access.token})
        client.headers["authorization"] = "Bearer " + opened.json()["session"]
        state = (await client.get("/api/state")).json()
        assert state["valid"], state
        body = {"based_on": state["version"], "changes": {"output.folder": "again", "title": "簾"}}
        state = (await client.patch("/api/recipe", json=body)).json()
        assert state["version"] == 2, state
        brought = await client.post("/api/files/more.csv", content=b"age\\n1\\n")
        assert brought.status_code == 201, brought.text
    return workspace, state["text"]

workspace, text = asyncio.run(studio())
from sudare.studio.tasks import JobStore
tasks = JobStore(workspace)
job = tasks.add("publish", {"text": text, "version": 2, "language": "ja"})
run(workspace, job.id)
assert tasks.get(job.id).state == "done", tasks.get(job.id)
assert verify(workspace.folder / "again").ok
left = {path.name for path in workspace.folder.rglob("*")}
assert not [name for name in left if "partial" in name or "upload-" in name or name.startswith("job-")], left
print("ran")
"""
RECIPE = """kind = "perturbation"
dataset = "staff"
data = {path = "people.csv"}
columns.age = {bounds = [0, 120]}
perturbation = {epsilon = 1.5}
ledger = {path = "ledger.db", cap = {epsilon = 1000}}
output = {folder = "release", key = "publisher.pem"}
"""


def test_it_publishes_verifies_and_opens_its_studio_where_files_behave_as_on_windows(tmp_path):
    pytest.importorskip("tomlkit", reason="the studio is not installed: pip install 'sudare[studio]'")
    (tmp_path / "people.csv").write_text("age\n" + "".join(f"{age}\n" for age in range(20, 60)))
    (tmp_path / "recipe.toml").write_text(RECIPE)
    command = [sys.executable, "-c", AS_ON_WINDOWS, str(tmp_path / "recipe.toml")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.stdout == "ran\n", done.stderr
