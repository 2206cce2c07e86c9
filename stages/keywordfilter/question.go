package keywordfilter

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/stages/internal/modeluse"
	"github.com/webrace/webrace/xmlschema"
)

// question returns what a model is to be asked of an alert, and whether that must not be; nil for nothing.
func (m *matching) question(n newAlert) (*xmlschema.Judgement, error) {
	if n.urd.Ask == "" {
		return nil, nil
	}
	var err error
	j := &xmlschema.Judgement{Question: n.urd.Ask, News: n.alert.Summary}
	if n.diffs != nil { // it has text
		if j.News, err = n.diffs.newsSince(n.seen, n.alert.Entries); err != nil {
			return nil, err
		}
	}
	j.Forbidden, err = m.forbidsModels()
	return j, err
}

// forbidsModels returns the statement by which the document must not be given to a model; empty for none. It is looked
// for once, and only if an owner has a question.
func (m *matching) forbidsModels() (string, error) {
	if m.forbidden != nil {
		return *m.forbidden, nil
	}
	d := m.document
	said := modeluse.Forbidden(d.URL, d.Header, d.Body, d.MediaType)
	if said == "" && d.Outcome != webrace.Fetched && d.Version > 0 { // what came, if anything, has not all of the header
		v, err := m.stage.version(d, d.Version)
		if err != nil {
			return "", err
		}
		body, header, err := m.stage.objects.Body(v)
		if err != nil {
			return "", err
		}
		said = modeluse.Forbidden(d.URL, header, body, v.MediaType)
	}
	m.forbidden = &said
	return said, nil
}
