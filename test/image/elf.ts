/** The processor that a binary is for. */
import { open } from 'node:fs/promises';

/** `e_machine` of ELF's header. https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html */
const MACHINES: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' };

/** @returns undefined if the file is no ELF binary */
export async function machineOf(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(20), 0, 20, 0);
    if (bytesRead < 20 || buffer.toString('latin1', 0, 4) !== '\x7fELF') return undefined;
    const machine = buffer.readUInt16LE(18);
    return MACHINES[machine] ?? `machine ${machine}`;
  } finally {
    await file.close();
  }
}
