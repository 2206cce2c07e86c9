package portal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// itemPage is what is shown of one annotation.
type itemPage struct {
	inboxRow
	URI       string // of the document, to follow; empty: it has none on the web
	Shown     string // the URI as it is written
	Version   int
	Threshold int
	Why       []whyRow
	Also      []xmlschema.Mirror
	More      int // further documents of the same text

	Reading *Reading
	Before  []versionRow
	NoText  string // why there is no text of the stored version; empty if there is
}

// versionRow is a stored version in a list.
type versionRow struct {
	Number int
	When   string
	Size   int64
	Shown  bool // it is the one that the annotation speaks of
}

// whyRow is what one keyword added to a relevance.
type whyRow struct {
	Key                              string
	Weight                           int
	Title, Heading, Body, Navigation int
	Percent                          int // of the relevance
	Found                            bool
}

// showItem shows one annotation: as a page, or as the ending of its name asks for: .txt, .json or .xml. It stays unread
// until that is said by a POST.
func showItem(v *visit, mine control.Owned) error {
	name, format, _ := strings.Cut(v.r.PathValue("seq"), ".")
	v.r.SetPathValue("seq", name)
	seq, err := v.number("seq")
	if err != nil {
		return err
	}
	i, err := mine.Item(v.r.Context(), seq)
	if err != nil {
		return err
	}
	if format != "" {
		return v.writeItem(i, format)
	}
	u, err := mine.URD(v.r.Context(), i.URD)
	if err != nil && !errors.Is(err, control.ErrNotFound) {
		return err
	}
	titles := make(map[string]string)
	if err == nil {
		titles[i.URD] = titleOf(u)
	}
	p := v.itemPage(i, titles)
	if err := v.read(&p, i.ACI, u.URD); err != nil {
		return err
	}
	return v.showTitled(http.StatusOK, "item", p.Title, p)
}

// read adds the stored version that an annotation speaks of. Where that is gone, the page tells so.
func (v *visit) read(p *itemPage, a control.ACI, u *xmlschema.URD) error {
	reader, err := v.tools.open()
	if err != nil || reader == nil {
		return err
	}
	p.Reading, err = reader.Read(v.r.Context(), a, u)
	var gone *GoneError
	switch {
	case errors.As(err, &gone):
		p.Reading, p.NoText = nil, text("item.gone")
		return nil
	case err != nil:
		return err
	}
	for _, version := range p.Reading.Versions {
		p.Before = append(p.Before, versionRow{version.Number, v.moment(version.At), version.Size, version.Number == p.Reading.Number})
	}
	return nil
}

// giveRaw gives the stored version as it was received: to be saved, and not to be shown, for anything may be in it.
func giveRaw(v *visit, mine control.Owned) error {
	seq, err := v.number("seq")
	if err != nil {
		return err
	}
	i, err := mine.Item(v.r.Context(), seq)
	if err != nil {
		return err
	}
	reader, err := v.tools.open()
	if err != nil {
		return err
	}
	if reader == nil {
		return control.ErrNotFound
	}
	contentType, body, err := reader.Raw(v.r.Context(), i.ACI)
	if errors.As(err, new(*GoneError)) {
		return refuse(http.StatusGone, "item.gone")
	}
	if err != nil {
		return err
	}
	defer body.Close()
	h := v.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", fmt.Sprintf("%d%s", seq, extensionOf(contentType))))
	_, _ = io.Copy(v.w, body) // who went away does not read it
	return nil
}

// extensionOf returns how the name of a file of a type ends; nothing for one that is not known.
func extensionOf(contentType string) string {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	if mediaType == "text/html" {
		return ".html" // of several that there are
	}
	endings, err := mime.ExtensionsByType(mediaType)
	if err != nil || len(endings) == 0 {
		return ""
	}
	return endings[0]
}

func (v *visit) itemPage(i control.InboxItem, titles map[string]string) itemPage {
	p := itemPage{inboxRow: v.row(i, titles), URI: onTheWeb(i.URI), Shown: i.URI, Version: i.Docbase.Version, Also: i.ACI.Also.Documents, More: i.ACI.Also.More()}
	if i.Explain == nil {
		return p
	}
	p.Threshold = i.Explain.Threshold
	for _, k := range i.Explain.Keywords {
		p.Why = append(p.Why, whyRow{
			Key: k.Key, Weight: k.Weight, Title: k.Title, Heading: k.Heading, Body: k.Body, Navigation: k.Navigation,
			Percent: int(k.Share*100 + 0.5), Found: k.Title+k.Heading+k.Body+k.Navigation > 0,
		})
	}
	return p
}

// onTheWeb returns a URL that a person can follow; empty for others.
func onTheWeb(uri string) string {
	if u, err := url.Parse(uri); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return uri
}

// writeItem writes an annotation in a format for programs, or for a terminal.
func (v *visit) writeItem(i control.InboxItem, format string) error {
	h := v.w.Header()
	switch format {
	case "txt":
		h.Set("Content-Type", "text/plain; charset=utf-8")
		summary := strings.TrimSpace(i.Summary + "\n" + judgementOf(i.Judgement))
		_, _ = fmt.Fprintf(v.w, "%s\n%s\n\n%s\n\n%s %d%%\n", i.Title, i.URI, summary, text("item.relevance"), i.Relevance)
	case "json":
		body, err := json.Marshal(i.ACI.ACI)
		if err != nil {
			return err
		}
		h.Set("Content-Type", "application/json")
		_, _ = v.w.Write(append(body, '\n'))
	case "xml":
		h.Set("Content-Type", "application/xml")
		h.Set("Content-Length", strconv.Itoa(len(i.Canonical())))
		_, _ = v.w.Write(i.Canonical())
	default:
		return control.ErrNotFound
	}
	return nil
}
