/** A response's head as it is written to a connection. @param headers names and values in turn, each character a byte */
export function headText(statusLine: string, headers: readonly string[]): string {
  let text = `${statusLine}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}
