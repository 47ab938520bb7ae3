/** Unpacks the page's program, which lies deflated in the page, and runs it. The policy knows its hash. */
async function unpack(element: HTMLElement): Promise<void> {
  const packed = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const script = document.createElement('script');
  script.textContent = await new Response(stream).text();
  document.body.append(script);
}

const program = document.getElementById('program');
if (program) unpack(program);
