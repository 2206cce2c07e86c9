// Reads a folder of Markdown files with a front matter as other programs do: the front matter by the package yaml, the
// Markdown by markdown-it, which leaves HTML in it as it is, so that none can hide, and makes links of addresses in the
// text, as GitHub does. It writes a line of JSON a file.
//
//   node render.cjs NODE_MODULES FOLDER
const fs = require("node:fs")
const path = require("node:path")
const [modules, folder] = process.argv.slice(2)
const yaml = require(path.join(modules, "yaml"))
const renderer = require(path.join(modules, "markdown-it"))({ html: true, linkify: true })
renderer.linkify.set({ fuzzyLink: false, fuzzyEmail: false }) // what is no address by itself
renderer.validateLink = () => true // so that no link is left out because of what it leads to

for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) {
    continue
  }
  const file = path.join(entry.parentPath ?? entry.path, entry.name)
  const text = fs.readFileSync(file, "utf8")
  const parts = /^---\n(.*?\n)---\n\n?(.*)$/s.exec(text)
  const matter = parts && yaml.parse(parts[1], { strict: true, uniqueKeys: true })
  const read = { file: path.relative(folder, file), matter, html: renderer.render(parts ? parts[2] : text) }
  fs.writeSync(1, JSON.stringify(read) + "\n")
}
