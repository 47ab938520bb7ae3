"""Runs a command in a pseudo-terminal of as many columns as the first argument says; its keys come from stdin, its screen goes to stdout."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
sources = [terminal, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        keys = os.read(0, 1024)
        if keys:
            os.write(terminal, keys)
        else:
            sources.remove(0)
    if terminal in ready:
        try:
            text = os.read(terminal, 65536)
        except OSError:
            break
        if not text:
            break
        os.write(1, text)
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
