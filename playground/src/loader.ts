/** Unpacks the page's style and program, which lie deflated in the page, and adds them. The policy knows their hashes. */
async function unpack({ dataset, textContent }: HTMLElement): Promise<void> {
  const packed = Uint8Array.from(atob(textContent ?? ''), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const element = document.createElement(dataset.packed ?? 'script');
  element.textContent = await new Response(stream).text();
  document.body.append(element);
}

async function unpackAll(): Promise<void> {
  for (const element of document.querySelectorAll<HTMLElement>('[data-packed]')) {
    await unpack(element);
  }
}

unpackAll();
