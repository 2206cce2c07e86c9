package xmlschema

func (m *Meta) write(f *formWriter) {
	f.root("meta")
	f.optionalInt("status", m.Status)
	f.integer("size", m.Size)
	f.optional("etag", m.ETag)
	f.optional("lastmodified", m.LastModified)
	if !m.Fetched.IsZero() {
		f.attr("fetched", formatTime(m.Fetched))
	}
	f.textElement("url", m.URL)
	f.optionalText("ip", m.IP)
	for i := range m.Header {
		f.open("header")
		f.attr("name", m.Header[i].Name)
		f.characters(m.Header[i].Value)
		f.end()
	}
	for _, link := range m.Links {
		f.open("link")
		f.attr("href", link)
		f.end()
	}
	f.end()
}
