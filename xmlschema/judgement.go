package xmlschema

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/beevik/etree"
)

// The answers of a [Judgement].
const (
	AnswerNone = "none" // it was not judged: Reason tells why
	AnswerYes  = "yes"
	AnswerNo   = "no"
)

// Judgement is what a model was asked of the document of an annotation, and what it answered.
type Judgement struct {
	Question string // that of the URD; it has the bounds of [URD] Ask
	Answer   string // one of the Answer constants; empty as long as it is to be asked
	Reason   string // in the words of the model; without an answer why there is none, in ours
	Model    string // which answered, as its server calls it

	// What is asked of, before it is judged, and the statement of the page's site by which no model may be asked,
	// empty for none. They are for who judges it alone: XML has neither.
	News, Forbidden string
}

// IsPending reports whether a model is still to be asked.
func (j *Judgement) IsPending() bool { return j != nil && j.Answer == "" }

// String describes the judgement in a line, with what the model itself gave behind a colon.
func (j *Judgement) String() string {
	switch j.Answer {
	case AnswerYes, AnswerNo:
		return fmt.Sprintf("%s answers %s to %q: %s", j.Model, j.Answer, j.Question, j.Reason)
	}
	return fmt.Sprintf("unjudged, %q was not answered: %s", j.Question, j.Reason)
}

// Short is String without the question.
func (j *Judgement) Short() string {
	switch j.Answer {
	case AnswerYes, AnswerNo:
		return j.Model + ": " + j.Reason
	}
	return "unjudged: " + j.Reason
}

// NormalQuestion returns a question on one line, as it is stored.
func NormalQuestion(text string) string {
	return strings.Join(strings.FieldsFunc(text, isXMLSpace), " ")
}

func isXMLSpace(r rune) bool { return r < utf8.RuneSelf && isSpace(byte(r)) }

// questionFault returns what keeps a text from being a question; empty if nothing does.
func questionFault(text string) string {
	switch {
	case text == "":
		return "is empty"
	case strings.ContainsFunc(text, breaksLine):
		return "contains a control character"
	case utf8.RuneCountInString(text) > LongestQuestion:
		return fmt.Sprintf("is longer than %d characters", LongestQuestion)
	}
	return ""
}

func bindAsk(b *binding) string {
	question := NormalQuestion(b.text())
	if fault := questionFault(question); fault != "" {
		b.problem(fmt.Sprintf("<%s> %s", b.n.name, fault))
	}
	return question
}

// plainAsk reports whether it is certain that the question is valid.
func (u *URD) plainAsk() bool {
	return u.Ask == "" || plainString(u.Ask, LongestQuestion, true) && u.Ask == NormalQuestion(u.Ask)
}

func bindJudgement(b *binding) *Judgement {
	j := &Judgement{Answer: b.enum("answer", AnswerNone, AnswerYes, AnswerNo), Model: b.str("model")}
	if a := b.attr("question"); a != nil {
		j.Question = NormalQuestion(a.value)
		if fault := questionFault(j.Question); fault != "" {
			b.at(a, "question "+fault, "")
		}
	}
	j.Reason = b.text()
	return j
}

func (j *Judgement) addTo(parent *etree.Element) {
	e := parent.CreateElement("judgement")
	optional(e, "question", j.Question)
	e.CreateAttr("answer", orElse(j.Answer, AnswerNone))
	optional(e, "model", j.Model)
	text(e, j.Reason)
}

// normal returns the judgement as reading what was written gives it.
func (j *Judgement) normal() *Judgement {
	if j == nil {
		return nil
	}
	return &Judgement{Question: j.Question, Answer: orElse(j.Answer, AnswerNone), Reason: j.Reason, Model: j.Model}
}
