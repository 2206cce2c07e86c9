"""Receives events as a server of others does: receiver.py WAY FILE. Prints its address, and adds a line to the file for
each request that has arrived: its Idempotency-Key and its body."""

import http.server
import sys
import threading
import time

way, file = sys.argv[1:]
lock = threading.Lock()


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with lock, open(file, "a") as log:
            log.write("%s %s\n" % (self.headers["Idempotency-Key"], body.strip()))
        if way == "hangs":
            time.sleep(3600)
        if way == "late":  # later than the sender waits
            time.sleep(3)
        if way == "drops":
            self.close_connection = True
            return
        self.send_response(503 if way == "refuses" else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Receiver)
print("http://127.0.0.1:%d/" % server.server_port, flush=True)
server.serve_forever()
