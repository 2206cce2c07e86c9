package xmlschema

import (
	"fmt"
	"math"
)

func bindACI(b *binding) *ACI {
	a := &ACI{
		ID:         b.token("id"),
		URD:        b.token("urd"),
		Owner:      b.token("owner"),
		Extension:  b.str("extension"),
		Format:     b.enum("format", FormatUnknown, FormatText, FormatHTML, FormatBinary, FormatMultipart),
		Relevance:  b.integer("relevance", 0, 0, 100),
		UpdateTime: b.instant("updatetime"),
		FileSize:   b.integer("filesize", 0, 0, math.MaxInt),
	}
	b.d.claimID(b, a.ID)
	if kid := b.mustChild("uri"); kid != nil {
		a.Thread = kid.str("thread")
		a.URI = bindURI(kid)
	}
	if kid := b.child("title"); kid != nil {
		a.Title = kid.text()
	}
	a.Urgency = bindUrgency(b)
	if kid := b.child("docbase"); kid != nil {
		a.Docbase.Digest = kid.str("digest")
		a.Docbase.Version = kid.integer("version", 0, 0, math.MaxInt32)
		a.Docbase.Since = kid.integer("since", 0, 0, math.MaxInt32)
		a.Docbase.Secret = kid.token("secret")
		a.Docbase.Likeness = kid.fingerprint("likeness")
		a.Docbase.Shown = kid.fingerprint("shown")
		a.Docbase.Matched = kid.fingerprint("matched")
		a.Docbase.Name = trim(kid.text())
	}
	if kid := b.child("expired"); kid != nil {
		a.Expired = kid.boolean("expir")
		kid.empty()
	}
	if kid := b.child("summary"); kid != nil {
		a.Summary = kid.text()
	}
	if kid := b.child("explain"); kid != nil {
		a.Explain = bindExplain(kid)
	}
	if kid := b.child("judgement"); kid != nil {
		a.Judgement = bindJudgement(kid)
	}
	if kid := b.child("also"); kid != nil {
		a.Also = bindAlso(kid)
	}
	if kid := b.child("values"); kid != nil {
		a.Values = bindValues(kid)
	}
	b.done()
	return a
}

func bindAlso(b *binding) (also Also) {
	also.Count = b.integer("count", 0, 0, math.MaxInt32)
	for _, kid := range b.children("uri") {
		also.Documents = append(also.Documents, Mirror{Version: kid.integer("version", 0, 0, math.MaxInt32), URI: bindURI(kid)})
	}
	switch n := len(also.Documents); {
	case n > MostMirrors:
		b.problem(fmt.Sprintf("<also> names more than %d documents", MostMirrors))
	case n > also.Count:
		b.problem(fmt.Sprintf("<also> names %d documents, and counts %d", n, also.Count))
	}
	b.done()
	return also
}

func bindValues(b *binding) map[string]string {
	values := make(map[string]string)
	for _, kid := range b.children("value") {
		name := kid.token("name")
		if _, twice := values[name]; twice || name == "" {
			kid.problem(fmt.Sprintf("value %q has no name of its own", name))
		}
		values[name] = kid.text()
	}
	if len(values) == 0 {
		b.problem("<values> has no <value>")
	}
	b.done()
	return values
}

func bindExplain(b *binding) *Explain {
	e := &Explain{
		Relevance: b.integer("relevance", 0, 0, 100),
		Threshold: b.integer("threshold", DefaultThreshold, 0, 100),
	}
	for _, kid := range b.children("keyword") {
		e.Keywords = append(e.Keywords, KeywordShare{
			Key:        kid.key(),
			Weight:     kid.integer("weight", DefaultWeight, 1, 5),
			Title:      kid.integer("title", 0, 0, math.MaxInt32),
			Heading:    kid.integer("heading", 0, 0, math.MaxInt32),
			Body:       kid.integer("body", 0, 0, math.MaxInt32),
			Navigation: kid.integer("navigation", 0, 0, math.MaxInt32),
			Saturation: kid.fraction("saturation"),
			Share:      kid.fraction("share"),
		})
		kid.empty()
	}
	b.done()
	return e
}
