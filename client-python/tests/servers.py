"""Servers that answer what a test tells them to, on free ports of this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
from botocore.config import Config

Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


@contextmanager
def server(answer: Answer) -> Iterator[str]:
    """The address of a server; `answer` sees each request with its body."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            answer(self, self.rfile.read(int(self.headers.get("content-length", 0))))

        do_GET = do_POST

        def log_message(self, *args: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_address[1]}"
    finally:
        running.shutdown()
        running.server_close()
        thread.join()


def reply(
    handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str
) -> None:
    """Sends an answer; underscores in names of headers are hyphens."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def aws_client(service: str, url: str, attempts: int = 1) -> Any:
    """A boto3 client of a stand-in."""
    return boto3.session.Session().client(
        service,
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(
            retries={"total_max_attempts": attempts}, s3={"addressing_style": "path"}
        ),
    )
