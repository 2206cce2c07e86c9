package xmlschema

import "strconv"

// Encode returns what is stored of the annotation: its canonical form, and that as the table which
// [BuildTable] makes of it. What Validate refuses is an error.
//
// A page may concern half a million owners, so annotations of plain values, which need no second look, are
// written straight into both forms.
func (a *ACI) Encode() (canonical, table []byte, err error) { return encode(a) }

// plain reports whether it is certain, without writing and reading it, that the annotation is valid. It may
// return false for one that is.
func (a *ACI) plain() bool {
	ok := plainString(a.ID, plainToken, false) && plainString(a.URD, plainToken, false) && plainString(a.Owner, plainToken, false) &&
		plainString(a.Extension, plainToken, false) && a.URI != "" && plainString(a.URI, plainValue, false) &&
		plainString(a.Thread, plainValue, false) && plainString(a.Title, plainText, true) && plainString(a.Summary, plainText, true) &&
		plainString(a.Docbase.Digest, plainValue, false) && plainString(a.Docbase.Name, plainValue, false) &&
		percent(a.Relevance) && a.FileSize >= 0 && a.Urgency >= 0 && a.Urgency <= 3 && natural(a.Docbase.Version) && natural(a.Docbase.Since) &&
		plainString(a.Docbase.Secret, plainToken, false) && a.Also.plain() && a.Judgement == nil && len(a.Values) == 0
	switch a.Format {
	case "", FormatUnknown, FormatText, FormatHTML, FormatBinary, FormatMultipart:
	default:
		return false
	}
	if year := a.UpdateTime.UTC().Year(); !a.UpdateTime.IsZero() && (year < 1 || year > 9999) {
		return false
	}
	return ok && (a.Explain == nil || a.Explain.plain())
}

func (also *Also) plain() bool {
	if !natural(also.Count) || len(also.Documents) > min(also.Count, MostMirrors) {
		return false
	}
	for _, m := range also.Documents {
		if m.URI == "" || !plainString(m.URI, plainValue, false) || !natural(m.Version) {
			return false
		}
	}
	return true
}

func (x *Explain) plain() bool {
	if !percent(x.Relevance) || !percent(x.Threshold) {
		return false
	}
	for i := range x.Keywords {
		k := &x.Keywords[i]
		if k.Key == "" || !plainString(k.Key, plainValue, true) || k.Weight < 1 || k.Weight > 5 || !fraction(k.Saturation) || !fraction(k.Share) ||
			!natural(k.Title) || !natural(k.Heading) || !natural(k.Body) || !natural(k.Navigation) {
			return false
		}
	}
	return true
}

// write writes what [ACI.Canonical] does.
func (a *ACI) write(f *formWriter) {
	f.root("aci")
	f.optional("id", a.ID)
	f.optional("urd", a.URD)
	f.optional("owner", a.Owner)
	f.optional("extension", a.Extension)
	f.attr("format", orElse(a.Format, FormatUnknown))
	f.integer("relevance", a.Relevance)
	if !a.UpdateTime.IsZero() {
		f.attr("updatetime", formatTime(a.UpdateTime))
	}
	f.integer("filesize", a.FileSize)
	f.open("uri")
	f.optional("thread", a.Thread)
	f.characters(a.URI)
	f.end()
	if a.Title != "" {
		f.textElement("title", a.Title)
	}
	f.urgency(a.Urgency)
	if a.Docbase != (Docbase{}) {
		f.open("docbase")
		f.optional("digest", a.Docbase.Digest)
		f.optionalInt("version", a.Docbase.Version)
		f.optionalInt("since", a.Docbase.Since)
		f.optional("secret", a.Docbase.Secret)
		f.optionalPrint("likeness", a.Docbase.Likeness)
		f.optionalPrint("shown", a.Docbase.Shown)
		f.optionalPrint("matched", a.Docbase.Matched)
		f.characters(a.Docbase.Name)
		f.end()
	}
	f.open("expired")
	f.attr("expir", strconv.FormatBool(a.Expired))
	f.end()
	if a.Summary != "" {
		f.textElement("summary", a.Summary)
	}
	if a.Explain != nil {
		f.explain(a.Explain)
	}
	if a.Also.Count > 0 {
		f.also(&a.Also)
	}
	f.end()
}

func (f *formWriter) also(also *Also) {
	f.open("also")
	f.integer("count", also.Count)
	for _, m := range also.Documents {
		f.open("uri")
		f.optionalInt("version", m.Version)
		f.characters(m.URI)
		f.end()
	}
	f.end()
}

func (f *formWriter) explain(x *Explain) {
	f.open("explain")
	f.integer("relevance", x.Relevance)
	f.integer("threshold", x.Threshold)
	for i := range x.Keywords {
		k := &x.Keywords[i]
		f.open("keyword")
		f.attr("key", k.Key)
		f.integer("weight", k.Weight)
		f.optionalInt("title", k.Title)
		f.optionalInt("heading", k.Heading)
		f.optionalInt("body", k.Body)
		f.optionalInt("navigation", k.Navigation)
		f.fraction("saturation", k.Saturation)
		f.fraction("share", k.Share)
		f.end()
	}
	f.end()
}
