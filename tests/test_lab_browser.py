"""``andrea-lesson`` as a user meets it: the server it starts, and JupyterLab in Chromium."""

import os
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from lab_server import chromium, lab, lab_page, lab_tab, running_lab


@pytest.mark.browser
def test_opens_first_chinese_notebook(lab_page):
    lab_page.open()
    assert lab_page.first_path() == "/lab/tree/zh-Hant/00_start_here.ipynb"
    tab = lab_page.page.locator(".lm-DockPanel-tabBar .lm-mod-current .lm-TabBar-tabLabel")
    assert tab.inner_text() == "00_start_here.ipynb"
    assert any("\u4e00" <= character <= "\u9fff" for character in prose(lab_page))


@pytest.mark.browser
def test_no_news_and_no_request_leaves_the_machine(lab_page):
    lab_page.open()
    lab_page.run_all()
    lab_page.page.wait_for_timeout(5000)  # the news would come a moment after the start
    assert lab_page.dialogs() == []
    assert lab_page.outside == []
    assert lab_page.lab.hosts_outside() == set()


@pytest.mark.browser
def test_first_notebook_runs_without_error(lab_page, tmp_path):
    lab_page.open("zh-Hant/00_start_here.ipynb")
    lab_page.run_all()
    assert lab_page.errors() == []
    pictures = lab_page.screenshots(tmp_path, "start")
    assert all(picture.stat().st_size > 10_000 for picture in pictures)


@pytest.mark.browser
def test_english_and_other_arguments(chromium, tmp_path):
    with (
        running_lab(tmp_path / "english", "--lang", "en", "--ServerApp.quit_button=False") as lab,
        lab_tab(chromium, lab) as tab,
    ):
        tab.open()
        assert tab.first_path() == "/lab/tree/en/00_start_here.ipynb"
        assert "attention" in prose(tab).lower()
        assert '"quitButton": false' in tab.page.locator("#jupyter-config-data").inner_text()


@pytest.mark.browser
def test_request_to_another_host_would_be_seen(lab_page):
    lab_page.open()
    lab_page.page.evaluate("fetch('http://lesson.invalid/news').catch(() => null)")
    assert lab_page.outside == ["http://lesson.invalid/news"]


def test_server_is_watched_too(tmp_path):
    with running_lab(tmp_path) as lab:
        environment = os.environ | {
            "PYTHONPATH": str(tmp_path / "watch"),
            "ANDREA_TEST_NETWORK": str(lab.network),
        }
        ask = "import socket\ntry: socket.getaddrinfo('lesson.invalid', 80)\nexcept OSError: pass"
        subprocess.run([sys.executable, "-c", ask], env=environment, check=True)
        assert lab.hosts_outside() == {"lesson.invalid"}


def test_token_is_required(tmp_path):
    with running_lab(tmp_path) as lab:
        assert lab.url.startswith("http://127.0.0.1:")
        assert len(lab.token) >= 32
        assert lab.get("/api/contents")[0] == 403
        assert lab.get("/api/contents", "wrong")[0] == 403
        assert lab.get("/api/contents", lab.token)[0] == 200


def test_settings_of_the_lesson_win_and_those_of_the_user_stay(tmp_path):
    mine = tmp_path / "mine"
    (mine / "labconfig").mkdir(parents=True)
    (mine / "labconfig" / "page_config.json").write_text(
        '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": false,'
        ' "@jupyterlab/running-extension": true}}',
        encoding="utf-8",
    )
    (mine / "jupyter_server_config.json").write_text(
        '{"ServerApp": {"ip": "0.0.0.0"}}', encoding="utf-8"
    )
    with running_lab(tmp_path / "lab", environment={"JUPYTER_CONFIG_PATH": str(mine)}) as lab:
        page = lab.get("/lab", lab.token)[1]
        assert '"@jupyterlab/apputils-extension:announcements"' in page
        assert '"@jupyterlab/running-extension"' in page
        assert "'readonly'" in lab.printed()
        assert not answers("127.0.0.2", urlsplit(lab.url).port)  # 0.0.0.0 would


def answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


def prose(tab) -> str:
    return "".join("".join(cell["source"]) for cell in tab.cells() if cell["cell_type"] != "code")
