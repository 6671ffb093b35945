import { withSerialNumber } from '../serial-number.ts';

interface Bill {
  readonly metadata: { readonly component: Readonly<Record<string, unknown>> };
  readonly components: readonly object[];
  readonly [other: string]: unknown;
}

interface Contents {
  /** The bill of materials of the bundle, as text. */
  readonly bundle: string;
  readonly node: string;
  /** Name, version and architecture of each Debian package, one a line. */
  readonly debian: string;
}

/** The bill of materials of the image (CycloneDX): the bundle, Node, and Debian's packages. */
export function imageBill({ bundle, node, debian }: Contents): string {
  const bill = JSON.parse(bundle) as Bill;
  const purl = `pkg:generic/node@${node}`;
  const runtime = { 'bom-ref': purl, type: 'platform', name: 'node', version: node, purl, scope: 'required' };
  const system = debian
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', version = '', architecture = ''] = line.split(' ');
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
      return { 'bom-ref': purl, type: 'library', name, version, purl, scope: 'required' };
    });
  const component = { ...bill.metadata.component, type: 'container' };
  const whole = {
    ...bill,
    metadata: { ...bill.metadata, component },
    components: [...bill.components, runtime, ...system],
  };
  return `${JSON.stringify(withSerialNumber(whole), null, 2)}\n`;
}
