/** The spellings of one character. Each is read as that character by some server. */
export function spellingsOf(character: string): string[] {
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  const overlong = [`%c${(code >> 6).toString(16)}`, `%${((code & 0x3f) | 0x80).toString(16)}`];
  const wide = [...Buffer.from(String.fromCharCode(code + 0xfee0))]
    .map((byte) => `%${byte.toString(16)}`)
    .join('');
  const common = [
    `%${hex}`,
    `%25${hex}`,
    `%2525${hex}`,
    overlong.join(''),
    overlong.join('').replaceAll('%', '%25'),
    wide,
  ];
  if (character === '/')
    return [...common, '//', '/;x/', '/;/', ';x=1/', './', '%20/', '%5C', '%255c', '///'];
  return /[a-z]/.test(character)
    ? [...common, character.toUpperCase(), `%${(code - 0x20).toString(16)}`]
    : common;
}
