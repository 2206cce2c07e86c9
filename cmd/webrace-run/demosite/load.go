package demosite

import (
	"bytes"
	"embed"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

//go:embed site
var files embed.FS

//go:embed layout.html
var layoutText string

var layout = template.Must(template.New("layout").Parse(layoutText))

// form is how a resource is written, and sent.
type form struct {
	contentType string
	charset     string            // declared in the page; empty if it is not
	encoding    encoding.Encoding // nil for UTF-8
	language    string
}

var forms = map[string]form{
	".html": {contentType: "text/html; charset=utf-8", charset: "utf-8", language: "en"},
	".css":  {contentType: "text/css; charset=utf-8"},
	".txt":  {contentType: "text/plain; charset=utf-8"},
	".xml":  {contentType: "application/xml"},
	".png":  {contentType: "image/png"},

	".ttl":    {contentType: "text/turtle; charset=utf-8"},
	".trig":   {contentType: "application/trig"},
	".nq":     {contentType: "application/n-quads"},
	".jsonld": {contentType: "application/ld+json"},
	".atom":   {contentType: "application/atom+xml"},
	".nt":     {contentType: "text/plain"},      // as servers say that do not know it
	".rdf":    {contentType: "application/xml"}, // likewise
}

// exceptions are the resources that differ from others whose names end like theirs.
var exceptions = map[string]form{
	"/feed.xml":                   {contentType: "application/rss+xml; charset=utf-8"},
	"/atom.xml":                   {contentType: "application/atom+xml; charset=utf-8"},
	"/library/ellinika.html":      {contentType: "text/html; charset=ISO-8859-7", encoding: charmap.ISO8859_7, language: "el"},
	"/library/local-history.html": {contentType: "text/html", charset: "windows-1252", encoding: charmap.Windows1252, language: "en"},
}

// section is an entry of the navigation that every page has.
type section struct{ Path, Name string }

var sections = []section{
	{"/", "Home"}, {"/news/", "News"}, {"/port/", "Port"}, {"/council/", "Council"},
	{"/library/", "Library"}, {"/technology/", "Technology"}, {"/nature/", "Nature"},
}

// load reads all that is embedded. It cannot fail but by a mistake in the files.
func load() map[string]resource {
	resources := map[string]resource{"/images/harbour.png": {forms[".png"], harbour(), published}}
	err := fs.WalkDir(files, "site", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		address := addressOf(strings.TrimPrefix(name, "site"))
		f, ok := exceptions[address]
		if !ok {
			f = forms[path.Ext(name)]
		}
		content := string(text)
		if f.isPage() {
			content = dress(address, f, content)
		}
		resources[address] = resource{f, content, published}
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("demosite: read the embedded site: %v", err))
	}
	return resources
}

func (f form) isPage() bool { return strings.HasPrefix(f.contentType, "text/html") }

// addressOf returns the path and query that a file answers: /news/index.html is /news/, and
// /news/archive@year=2024.html is /news/archive.html?year=2024.
func addressOf(file string) string {
	if before, query, ok := strings.Cut(file, "@"); ok {
		ext := path.Ext(query)
		return before + ext + "?" + strings.TrimSuffix(query, ext)
	}
	if dir, ok := strings.CutSuffix(file, "/index.html"); ok {
		return dir + "/"
	}
	return file
}

// dress makes a page of what a file holds: elements of its head, and its main element.
func dress(address string, f form, text string) string {
	i := strings.Index(text, "<main")
	if i < 0 {
		panic("demosite: the page " + address + " has no main element")
	}
	here := ""
	for _, s := range sections {
		if strings.HasPrefix(address, s.Path) && (s.Path != "/" || address == "/") {
			here = s.Path
		}
	}
	var page strings.Builder
	err := layout.Execute(&page, struct {
		Language, Charset, Head, Main, Section string
		Sections                               []section
	}{f.language, f.charset, strings.TrimSpace(text[:i]), strings.TrimSpace(text[i:]), here, sections})
	if err != nil {
		panic(fmt.Sprintf("demosite: lay out %s: %v", address, err))
	}
	return page.String()
}

// harbour draws the evening sky, the setting sun, the sea and the mole with its lighthouse, as a PNG.
func harbour() string {
	const width, height, horizon = 96, 48, 30
	const sky, sun, sea, glitter, stone, light = 0, 1, 2, 3, 4, 5
	picture := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{
		sky: color.RGBA{0xf4, 0xc0, 0x8e, 0xff}, sun: color.RGBA{0xe8, 0x6a, 0x3a, 0xff},
		sea: color.RGBA{0x14, 0x50, 0x6b, 0xff}, glitter: color.RGBA{0xd9, 0x9a, 0x6c, 0xff},
		stone: color.RGBA{0x3a, 0x3f, 0x45, 0xff}, light: color.RGBA{0xff, 0xf2, 0xb0, 0xff},
	})
	for y := range height {
		for x := range width {
			shade := uint8(sky)
			dx, dy := x-26, y-horizon
			switch {
			case y >= horizon+2 && x >= 60 && y < horizon+6, x >= 84 && x < 89 && y >= 12 && y < horizon+2:
				shade = stone
			case x >= 84 && x < 89 && y >= 9 && y < 12:
				shade = light
			case y < horizon && dx*dx+dy*dy < 100:
				shade = sun
			case y >= horizon && y%3 == 0 && dx*dx < 90-4*dy:
				shade = glitter
			case y >= horizon:
				shade = sea
			}
			picture.SetColorIndex(x, y, shade)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		panic(fmt.Sprintf("demosite: draw the harbour: %v", err))
	}
	return out.String()
}
