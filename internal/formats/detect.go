package formats

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/url"
	"path"
	"strings"
)

// Format is a form of documents that this package reads.
type Format uint8

const (
	None Format = iota
	JSON
	JSONLines // values of JSON one after another, mostly a line each
	CSV
	TSV
	Markdown
	Calendar // iCalendar
	Card     // vCard
	DOCX
	XLSX
	ODT
	ODS
	ODP
	EPUB
)

// mediaTypes are what the formats are called, the usual name first.
var mediaTypes = map[Format][]string{
	JSON: {"application/json", "text/json", "application/x-json", "text/x-json"},
	JSONLines: {"application/jsonl", "application/x-ndjson", "application/ndjson", "application/x-jsonlines", "application/jsonlines",
		"application/json-seq", "text/x-jsonl"},
	CSV:      {"text/csv", "application/csv", "text/x-csv", "text/comma-separated-values", "application/x-csv"},
	TSV:      {"text/tab-separated-values", "text/tsv"},
	Markdown: {"text/markdown", "text/x-markdown"},
	Calendar: {"text/calendar", "text/x-vcalendar", "application/ics"},
	Card:     {"text/vcard", "text/x-vcard", "text/directory"},
	DOCX:     {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/vnd.ms-word.document.macroenabled.12"},
	XLSX:     {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.ms-excel.sheet.macroenabled.12"},
	ODT:      {"application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text-template"},
	ODS:      {"application/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.spreadsheet-template"},
	ODP:      {"application/vnd.oasis.opendocument.presentation"},
	EPUB:     {"application/epub+zip"},
}

var byMediaType = func() map[string]Format {
	all := map[string]Format{}
	for f, names := range mediaTypes {
		for _, name := range names {
			all[name] = f
		}
	}
	return all
}()

// MediaType returns the usual media type of a format.
func (f Format) MediaType() string {
	if names := mediaTypes[f]; len(names) > 0 {
		return names[0]
	}
	return ""
}

// IsJSON reports whether documents of the type are JSON, or values of JSON one after another.
func IsJSON(mediaType string) bool {
	f := byMediaType[mediaType]
	return f == JSON || f == JSONLines || strings.HasSuffix(mediaType, "+json")
}

// generic are types that servers send what they do not know as. The content decides of what is an archive, and the
// name of what is text.
var generic = map[string]bool{
	"application/octet-stream": true, "binary/octet-stream": true, "application/download": true, "application/force-download": true,
	"application/x-download": true, "application/zip": true, "application/x-zip-compressed": true, "application/x-zip": true,
}

// oldOffice are the types of formats before zip, as which servers send the new ones, too.
var oldOffice = map[string]bool{"application/msword": true, "application/vnd.ms-excel": true, "application/vnd.ms-office": true}

// Of returns the format of a document: that of its media type; what an archive holds, whatever archive it is said to
// be; and by the ending of the URL's path what is said to be plain text, or nothing in particular. Of what has no such
// ending, and of what is said to be a page, JSON is known by its content: many servers send it as what they send
// everything as.
func Of(mediaType, address string, body []byte) Format {
	f := byMediaType[mediaType]
	switch {
	case f == None && strings.HasSuffix(mediaType, "+json"):
		return JSON
	case f >= DOCX || generic[mediaType] || oldOffice[mediaType]:
		if held := inArchive(body); held != None {
			return held
		}
		if f >= DOCX {
			return f
		}
	case f != None:
		return f
	case mediaType == "text/html" && isJSON(body):
		return JSON
	case mediaType != "text/plain":
		return None
	}
	f = byName(address)
	switch {
	case bytes.IndexByte(body[:min(len(body), 512)], 0) >= 0: // no text, unless in UTF-16, which declares that first
		return None
	case f == JSON && !beginsJSON(body), (f == Calendar || f == Card) && !beginsCalendar(body):
		return None
	case f == None && isJSON(body):
		return JSON
	}
	return f
}

var byExtension = map[string]Format{
	".json": JSON, ".geojson": JSON, ".jsonld": JSON, ".jsonl": JSONLines, ".ndjson": JSONLines, ".csv": CSV, ".tsv": TSV, ".tab": TSV,
	".ics": Calendar, ".vcs": Calendar, ".vcf": Card, ".md": Markdown, ".markdown": Markdown, ".mkd": Markdown,
}

func byName(address string) Format {
	u, err := url.Parse(address)
	if err != nil {
		return None
	}
	return byExtension[strings.ToLower(path.Ext(u.Path))]
}

func beginsJSON(body []byte) bool {
	body = bytes.TrimLeft(withoutMark(body), space)
	return len(body) > 0 && (body[0] == '{' || body[0] == '[')
}

// isJSON reports whether a body is an object or a list of JSON, as a whole.
func isJSON(body []byte) bool { return beginsJSON(body) && json.Valid(withoutMark(body)) }

// withoutMark is a text in UTF-8 without the byte order mark that it may begin with.
func withoutMark(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\ufeff")) }

func beginsCalendar(body []byte) bool {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\ufeff")), space)
	return len(body) >= len("BEGIN:") && hasPrefixFold(string(body[:len("BEGIN:")]), "BEGIN:")
}

var zipMagic = []byte("PK\x03\x04")

// inArchive returns the format of the document that a zip archive is: by its part "mimetype", or by the main part of
// office files.
func inArchive(body []byte) Format {
	if !bytes.HasPrefix(body, zipMagic) {
		return None
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return None
	}
	for _, f := range z.File {
		switch {
		case f.Name == "mimetype" && f.UncompressedSize64 < 200:
			if r, err := f.Open(); err == nil {
				name, _ := io.ReadAll(io.LimitReader(r, 200))
				r.Close()
				mediaType, _, _ := mime.ParseMediaType(strings.TrimSpace(string(name)))
				if of := byMediaType[mediaType]; of >= ODT {
					return of
				}
			}
		case isDocxMain(f.Name):
			return DOCX
		case strings.EqualFold(f.Name, "xl/workbook.xml"):
			return XLSX
		case f.Name == epubContainer:
			return EPUB
		}
	}
	return None
}
