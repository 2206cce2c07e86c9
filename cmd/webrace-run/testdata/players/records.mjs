// Reads a WARC file with warcio: node records.mjs WARCIO FILE. Prints a line of JSON for each record that has a digest,
// with its own digests, those that warcio computes of what it holds, and the line of an index that warcio has for it.
import { createReadStream } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , library, file] = process.argv;
const { CDXIndexer, WARCParser, WARCSerializer, getSurt } = await import(pathToFileURL(library).href);

const lines = new Map(); // by offset
const indexer = new CDXIndexer({ all: true });
for await (const line of indexer.iterIndex([{ filename: "data.warc.gz", reader: createReadStream(file) }])) {
  lines.set(Number(line.offset), { ...line });
}

const parser = new WARCParser(createReadStream(file), { keepHeadersCase: true });
for await (const record of parser) {
  const said = { block: record.warcBlockDigest, payload: record.warcPayloadDigest, size: record.warcContentLength };
  const kind = record.warcType, url = record.warcTargetURI, cut = record.warcHeader("WARC-Truncated") ?? "";
  const serializer = new WARCSerializer(record, { digest: { algo: "sha-256", prefix: "sha256:", base32: true } });
  const size = await serializer.digestRecord({ recompute: true, payloadDigestForRevisit: said.payload });
  const is = { block: record.warcBlockDigest, payload: record.warcPayloadDigest, size: record.warcContentLength };
  await record.skipFully();
  console.log(JSON.stringify({ kind, url, cut, said, is, key: url && getSurt(url), index: lines.get(parser.offset) ?? null }));
}
