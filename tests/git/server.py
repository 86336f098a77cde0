"""Repositories over https, like those of a hosting service: `git http-backend` with a self-signed certificate."""
import base64
import http.server
import os
import ssl
import subprocess
import threading


def certificate(folder):
    """The file with a certificate for localhost, and with its key."""
    path = os.path.join(folder, "server.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", path + ".key", "-out", path, "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return path


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def allowed(self):
        server = self.server
        given = self.headers.get("Authorization", "")
        server.seen.append(given)
        server.headers_seen.append(dict(self.headers.items()))
        if not server.password or given == "Basic " + base64.b64encode(server.password.encode()).decode():
            return True
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="repositories"')
        self.send_header("Content-Length", "0")
        self.end_headers()
        return False

    def serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if not self.allowed():
            return
        path, _, query = self.path.partition("?")
        env = {**os.environ, "GIT_PROJECT_ROOT": self.server.root, "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command, "PATH_INFO": path, "QUERY_STRING": query,
               "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(length), "REMOTE_ADDR": "127.0.0.1",
               "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        if self.headers.get("Content-Encoding"):
            env["HTTP_CONTENT_ENCODING"] = self.headers["Content-Encoding"]
        out = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=env).stdout
        head, _, body = out.partition(b"\r\n\r\n")
        fields = [line.partition(b": ")[::2] for line in head.split(b"\r\n")]
        status = next((int(v.split()[0]) for k, v in fields if k == b"Status"), 200)
        self.send_response(status)
        for key, value in fields:
            if key != b"Status":
                self.send_header(key.decode(), value.decode())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = serve


class Server:
    """Serves the repositories in `root` at self.url. password: NAME:PASSWORD that it wants."""

    def __init__(self, root, pem, password=None):
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.root, self.http.password, self.http.seen, self.http.headers_seen = root, password, [], []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, pem + ".key")
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://localhost:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
