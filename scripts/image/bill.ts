import { withSerialNumber } from '../serial-number.ts';

interface Bill {
  readonly metadata: { readonly component: Readonly<Record<string, unknown>> };
  readonly components: readonly object[];
  readonly [other: string]: unknown;
}

interface Contents {
  /** The bill of the bundle. */
  readonly bundle: string;
  readonly node: string;
  /** A line for each of Debian's packages: its name, version and architecture. */
  readonly debian: string;
}

/** What is in the image (CycloneDX): the bundle, the Node that runs it, and Debian's packages below them. */
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
