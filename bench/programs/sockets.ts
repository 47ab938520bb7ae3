/**
 * Bytes through bare sockets. `serve BYTES` answers each byte that it receives with BYTES bytes; `relay PORT`
 * passes on both ways. Each prints the port on which it listens.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

function serve(bytes: number): (socket: Socket) => void {
  const reply = Buffer.alloc(bytes, 1);
  return (socket) => {
    socket.on('data', () => socket.write(reply));
  };
}

function relay(port: number): (socket: Socket) => void {
  return (socket) => {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.pipe(upstream);
    upstream.pipe(socket);
    upstream.on('error', () => socket.destroy());
  };
}

const [mode, number] = process.argv.slice(2);
const handle = mode === 'serve' ? serve(Number(number)) : relay(Number(number));
const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  handle(socket);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
