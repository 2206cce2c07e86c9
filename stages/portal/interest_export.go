package portal

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/beevik/etree"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// download answers with a file.
func (v *visit) download(name, mediaType string, body []byte) error {
	h := v.w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	_, _ = v.w.Write(body) // who went away does not read it
	return nil
}

// exportXML writes the interests as a document of URDs.
func exportXML(v *visit, mine control.Owned) error {
	all, err := interestsOf(v.r.Context(), mine)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	_, err = xmlschema.WriteURDs(&b, func(yield func(*xmlschema.URD) bool) {
		for _, u := range all {
			if !yield(u.URD) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	b.WriteByte('\n')
	return v.download("interests.xml", "application/xml", b.Bytes())
}

// exportJSON writes the interests as a list, as webrace-store urd list --json does each, but for the crawls, which
// belong to others, too.
func exportJSON(v *visit, mine control.Owned) error {
	all, err := interestsOf(v.r.Context(), mine)
	if err != nil {
		return err
	}
	list := []control.URDRecord{}
	for _, u := range all {
		r := u.Record()
		r.Crawl = ""
		list = append(list, r)
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return v.download("interests.json", "application/json", append(body, '\n'))
}

// exportOPML writes the sources of the interests as other readers take them. Its folders are the labels, one within the
// other where an interest has several, as an import reads them.
func exportOPML(v *visit, mine control.Owned) error {
	all, err := interestsOf(v.r.Context(), mine)
	if err != nil {
		return err
	}
	d := etree.NewDocument()
	d.CreateProcInst("xml", `version="1.0" encoding="UTF-8"`)
	root := d.CreateElement("opml")
	root.CreateAttr("version", "2.0")
	head := root.CreateElement("head")
	head.CreateElement("title").SetText(text("interests.title"))
	head.CreateElement("dateCreated").SetText(v.tools.now().UTC().Format(time.RFC1123Z))
	body := root.CreateElement("body")
	for _, u := range all {
		addOutline(folderOf(body, u.Labels), u)
	}
	d.Indent(1)
	b, err := d.WriteToBytes()
	if err != nil {
		return err
	}
	return v.download("interests.opml", "text/x-opml; charset=utf-8", b)
}

// folderOf returns the folder with a path of names, which is made where there is none.
func folderOf(parent *etree.Element, names []string) *etree.Element {
	for _, name := range names {
		kids := parent.ChildElements()
		i := slices.IndexFunc(kids, func(e *etree.Element) bool {
			return e.SelectAttr("type") == nil && e.SelectAttrValue("text", "") == name
		})
		if i >= 0 {
			parent = kids[i]
			continue
		}
		parent = parent.CreateElement("outline")
		parent.CreateAttr("text", name)
	}
	return parent
}

func addOutline(folder *etree.Element, u control.URD) {
	e := folder.CreateElement("outline")
	e.CreateAttr("text", titleOf(u))
	if u.Title != "" {
		e.CreateAttr("title", u.Title)
	}
	if u.Protocol == xmlschema.ProtocolFeed {
		e.CreateAttr("type", "rss")
		e.CreateAttr("xmlUrl", u.URI)
	} else {
		e.CreateAttr("type", "link")
		e.CreateAttr("url", u.URI)
	}
}
