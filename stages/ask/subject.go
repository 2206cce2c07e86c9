package ask

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/visible"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// question is what is asked of one item.
type question struct {
	text      string // the question
	title     string // of what it is asked of
	of        string // what it is asked of
	owner     string // whose budget it is; empty for the stage's own
	secret    string // the name of the credentials with which that was fetched; empty for none
	forbidden string // the statement of its site by which no model may use it; empty for none
	*form
}

// key identifies a question: the same is answered once, whoever asks it.
func (q *question) key(model string) string {
	h := sha256.New()
	for _, part := range []string{model, q.form.name, string(q.form.schema), q.text, q.title, q.of} {
		fmt.Fprintf(h, "%d:", len(part))
		_, _ = io.WriteString(h, part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// subject finds what is to be asked of items.
type subject struct {
	text    int    // the most bytes of what is asked of
	general string // what is asked of what has no question of its own; empty for nothing
	form    *form  // of its answer
	own     *form  // of the answer to a question of a URD
}

func newSubject(o Options) (*subject, error) {
	s := &subject{text: o.Text, general: xmlschema.NormalQuestion(o.Question), own: yesNoForm()}
	if len(s.general) > mostText || visible.Line(s.general, len(s.general)) != s.general {
		return nil, &pipeline.OptionError{Option: "question", Err: errors.New("has control characters, or is too long")}
	}
	var err error
	if s.form, err = newForm(o); err != nil {
		return nil, &pipeline.OptionError{Option: "schema", Err: err}
	}
	if s.general == "" && (o.Answer == summary || o.Answer == fields) {
		return nil, &pipeline.OptionError{Option: "question", Err: fmt.Errorf(`is not set: answer = "%s" is about what it asks`, o.Answer)}
	}
	return s, nil
}

// of returns what is to be asked of an item; nil for nothing.
func (s *subject) of(it *pipeline.Item) (*question, error) {
	switch v := it.Value.(type) {
	case *xmlschema.ACI:
		q := &question{text: s.general, title: v.Title, of: v.Summary, owner: v.Owner, secret: v.Docbase.Secret, form: s.form}
		if j := v.Judgement; j.IsPending() {
			q.text, q.of, q.forbidden, q.form = j.Question, j.News, j.Forbidden, s.own
		} else if j != nil {
			return nil, nil // another stage has asked
		}
		return s.limited(q), nil
	case *webrace.Document:
		if v.Text == nil || len(v.Text.Bytes) == 0 {
			return nil, nil
		}
		return s.limited(&question{text: s.general, title: v.Title, of: textOf(v.Text, s.text), secret: v.Secret, form: s.form}), nil
	}
	return nil, fmt.Errorf("takes annotations and documents, got %T", it.Value)
}

// limited returns a question of what the model may be shown: of a bounded length, without control characters.
func (s *subject) limited(q *question) *question {
	if q.text == "" {
		return nil
	}
	q.title, q.of = visible.Line(q.title, longestTitle), lines(q.of, s.text)
	return q
}

const longestTitle = 500

// textOf returns the blocks of a text, one a line, up to a length.
func textOf(t *webrace.Text, most int) string {
	var b strings.Builder
	for _, block := range t.Blocks {
		if b.Len() > most {
			break
		}
		b.Write(t.Slice(block))
		b.WriteByte('\n')
	}
	return b.String()
}

// withAnswer returns the item with the answer to a question, and whether that is no.
func (q *question) withAnswer(it *pipeline.Item, a answer, model string) (judged *pipeline.Item, no bool) {
	said, no := q.form.values(a)
	said["ask.model"] = model
	aci, ok := it.Value.(*xmlschema.ACI)
	switch {
	case !ok:
		return withMeta(it, said), no
	case q.form.isYesNo():
		return it.With(judgedACI(aci, q.judgement(a, model))), no
	}
	return it.With(withValues(aci, said)), no
}

// withoutAnswer returns the item with why there is no answer.
func (q *question) withoutAnswer(it *pipeline.Item, why string) *pipeline.Item {
	why = visible.Line(why, longestReason)
	aci, ok := it.Value.(*xmlschema.ACI)
	switch {
	case !ok:
		return withMeta(it, map[string]string{"ask.unjudged": why})
	case q.form.isYesNo():
		return it.With(judgedACI(aci, &xmlschema.Judgement{Question: q.stored(), Answer: xmlschema.AnswerNone, Reason: why}))
	}
	return it.With(withValues(aci, map[string]string{"ask.unjudged": why}))
}

// judgement is what an answer of yes or no becomes.
func (q *question) judgement(a answer, model string) *xmlschema.Judgement {
	return &xmlschema.Judgement{Question: q.stored(), Answer: a["answer"].(string), Reason: a["reason"].(string), Model: model}
}

// stored is the question as an annotation can have it: one of the option may be longer than one of a URD.
func (q *question) stored() string { return visible.Line(q.text, xmlschema.LongestQuestion) }

func judgedACI(aci *xmlschema.ACI, j *xmlschema.Judgement) *xmlschema.ACI {
	judged := *aci
	judged.Judgement = j
	return &judged
}

func withValues(aci *xmlschema.ACI, values map[string]string) *xmlschema.ACI {
	with := *aci
	with.Values = maps.Clone(aci.Values)
	if with.Values == nil {
		with.Values = make(map[string]string)
	}
	maps.Copy(with.Values, values)
	return &with
}

func withMeta(it *pipeline.Item, values map[string]string) *pipeline.Item {
	for name, value := range values {
		it = it.WithMeta(name, value)
	}
	return it
}
