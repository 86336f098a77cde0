#!/usr/bin/env python3
"""Serves a model without states over HTTP, with nothing but Python's standard library, NumPy and trib.

    python3 server.py ../digits/build/libdigits.so --port 8000
    curl -d '{"x": [[0, 0, 5, …]]}' http://127.0.0.1:8000/predict

POST /predict   JSON {INPUT: rows} gives JSON {OUTPUT: rows}; a .npy body (application/x-npy) gives one.
GET /health     what is served, and how many requests were answered
GET /model      names, element types and shapes of inputs and outputs

A library that was built again is served from the next request on. SIGTERM and SIGINT end the server after the running
requests.
"""

import argparse
import collections
import contextlib
import json
import os
import signal
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import trib
from service import Service
from tensors import Refused, array_of_npy, arrays_of_json, npy_of_array

NPY = "application/x-npy"
# Exceptions of a call, and the status of the answer: the first row that fits counts.
STATUS = (
    ((trib.ArgumentError, trib.DtypeError, trib.ShapeError, trib.RangeError, trib.AssertionFailed), 400),
    ((trib.BusyError, trib.OutOfMemoryError), 503),
    (trib.Error, 500),
)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body go out together

    def answer(self, status, body, kind="application/json", **headers):
        self.close_connection = self.close_connection or self.server.is_closing
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.server.count(status)

    def answer_json(self, status, value, **headers):
        self.answer(status, json.dumps(value).encode() + b"\n", **headers)

    def refuse(self, refused):
        headers = {"Retry_After": "1"} if refused.status == 503 else {}
        self.answer_json(refused.status, {"error": refused.name, "message": str(refused)}, **headers)

    def send_error(self, code, message=None, explain=None):
        """What http.server itself refuses."""
        self.close_connection = True
        self.refuse(Refused(code, "HttpError", message or self.responses[code][0]))

    def log_message(self, *_):
        pass

    def setup(self):
        self.timeout = self.server.limits.timeout  # of each wait for the client
        super().setup()

    def handle_one_request(self):
        if self.server.wait_for(self.connection):
            super().handle_one_request()
        else:
            self.close_connection = True

    def parse_request(self):
        self.server.begin(self.connection)
        return super().parse_request()

    def handle_expect_100(self):
        super().handle_expect_100()
        self.wfile.flush()
        return True

    def do_GET(self):
        model, generation, _ = self.server.service.current
        if self.path == "/health":
            facts = {"status": "ok", "model": model.name, "generation": generation}
            self.answer_json(200, {**facts, "answers": self.server.answers})
        elif self.path == "/model":
            entry = model.describe().entries[0]
            inputs, outputs = ([vars(t) for t in tensors] for tensors in (entry.inputs, entry.outputs))
            self.answer_json(200, {"model": model.name, "inputs": inputs, "outputs": outputs})
        else:
            self.refuse(self.wrong_path())

    def do_POST(self):
        try:
            body = self.read_body()
            if self.path != "/predict":
                raise self.wrong_path()
            with self.server.turn():
                self.predict(body)
        except Refused as refused:
            self.refuse(refused)
        except trib.Error as error:
            status = next(status for kinds, status in STATUS if isinstance(error, kinds))
            self.refuse(Refused(status, type(error).__name__, str(error)))

    def wrong_path(self):
        method = {"/health": "GET", "/model": "GET", "/predict": "POST"}.get(self.path)
        if method:
            return Refused(405, "MethodError", f"{self.path} is for {method}")
        return Refused(404, "PathError", "use POST /predict, GET /health or GET /model")

    def read_body(self):
        """The bytes of the body. What is not read ends the connection, because the next request would begin in it."""
        size, most = self.headers.get("Content-Length", ""), self.server.limits.bytes
        if not (size.isascii() and size.isdigit()) or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            raise Refused(411, "LengthError", "send a Content-Length")
        size = int(size[:18])
        if size > most:
            self.close_connection = True
            left = size if size <= 8 * most else 0  # most clients read no answer before they have sent the body
            while left > 0 and self.rfile.read(min(left, 1 << 16)):
                left -= 1 << 16
            raise Refused(413, "LengthError", f"the body has {size} bytes: send at most {most} at once")
        body = self.rfile.read(size)
        if len(body) < size:
            self.close_connection = True
            raise Refused(400, "LengthError", f"the body ended after {len(body)} of {size} bytes")
        return body

    def predict(self, body):
        model, generation, _ = self.server.service.current
        entry = model.describe().entries[0]
        kind = self.headers.get_content_type()
        inputs = [array_of_npy(body)] if kind == NPY else arrays_of_json(body, entry.inputs)
        rows = max((x.shape[0] for x in inputs if x.ndim), default=1)
        if rows > self.server.limits.rows:
            raise Refused(413, "LengthError", f"{rows} rows: send at most {self.server.limits.rows} at once")
        outputs = model(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        if kind == NPY:
            return self.answer(200, npy_of_array(outputs[0]), NPY, Model_Generation=str(generation))
        named = {t.name: x.tolist() for t, x in zip(entry.outputs, outputs)}
        self.answer_json(200, named, Model_Generation=str(generation))


class Server(ThreadingHTTPServer):
    """A thread for each connection. `limits` has connections, waiting, rows, bytes and timeout."""

    daemon_threads = False  # server_close() waits for the running requests
    request_queue_size = 128

    def __init__(self, address, service, limits):
        super().__init__(address, Handler)
        self.service, self.limits = service, limits
        self.turns = threading.BoundedSemaphore(service.contexts + limits.waiting)
        self.places = threading.BoundedSemaphore(limits.connections)
        # Sockets that are closed by the next ones: closing before the request comes would reset the answer.
        self.refused = collections.deque(maxlen=64)
        self.lock = threading.Lock()  # of the fields below
        self.is_closing = False
        self.idle = set()  # connections that wait for a request
        self.answers = collections.Counter()  # by status

    # ---- connections ----

    def process_request(self, request, client_address):
        """Refuses a connection too many before it costs a thread."""
        if self.places.acquire(blocking=False):
            return super().process_request(request, client_address)
        text = b'{"error": "BusyError", "message": "too many connections: try again later"}\n'
        head = f"HTTP/1.1 503 Busy\r\nContent-Length: {len(text)}\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
        try:
            request.sendall(head.encode() + text)
            request.shutdown(socket.SHUT_WR)
            self.refused.append(request)
        except OSError:
            request.close()  # the client is gone

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.begin(request)
            self.places.release()

    def handle_error(self, request, client_address):
        """A client that went away is no error of the server."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)

    # ---- requests ----

    def wait_for(self, connection):
        """Notes that the connection waits for a request. Returns False if the server is closing."""
        with self.lock:
            if not self.is_closing:
                self.idle.add(connection)
            return not self.is_closing

    def begin(self, connection):
        """Notes that a request came, or the end of the connection."""
        with self.lock:
            self.idle.discard(connection)

    @contextlib.contextmanager
    def turn(self):
        """Lets as many requests run and wait as there are contexts and places, and refuses others."""
        if not self.turns.acquire(blocking=False):
            raise Refused(503, "BusyError", "too many requests wait: try again later")
        try:
            yield
        finally:
            self.turns.release()

    def count(self, status):
        with self.lock:
            self.answers[status] += 1

    def close(self):
        """Ends the server: requests that began get their answers."""
        self.shutdown()
        with self.lock:
            self.is_closing = True
            for connection in self.idle:
                connection.shutdown(socket.SHUT_RD)
        self.server_close()


def options():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("library")
    args.add_argument("--host", default="127.0.0.1")
    args.add_argument("--port", type=int, default=8000, help="0: a free one, which is printed")
    args.add_argument("--contexts", type=int, default=len(os.sched_getaffinity(0)), help="calls at the same time")
    args.add_argument("--waiting", type=int, default=64, help="requests that may wait for a context")
    args.add_argument("--connections", type=int, default=128)
    args.add_argument("--rows", type=int, default=1024, help="of a request")
    args.add_argument("--bytes", type=int, default=1 << 20, help="of a request")
    args.add_argument("--timeout", type=float, default=30, help="seconds that a client may be silent")
    args.add_argument("--poll", type=float, default=0.5, help="seconds between two looks at the library's file")
    return args.parse_args()


def main():
    args = options()
    try:
        service = Service(args.library, args.contexts)
    except trib.Error as error:
        sys.exit(f"server.py: {error}")
    stop = threading.Event()

    def end(*_):
        stop.set()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)  # a second signal does not wait

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    server = Server((args.host, args.port), service, args)
    threading.Thread(target=server.serve_forever).start()
    print(f"serving {service.current.model.name} at http://{args.host}:{server.server_port}", flush=True)
    while not stop.wait(args.poll):
        if changed := service.reload():
            print(changed, flush=True)
    server.close()
    print(f"answered {sum(server.answers.values())} requests", flush=True)


if __name__ == "__main__":
    main()
