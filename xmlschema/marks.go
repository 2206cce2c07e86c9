package xmlschema

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A request has marks that are for its owner: a title, labels, and whether it is paused. None is part of its interest:
// no annotation depends on them.

// The states of a request. An active one has none in the canonical form.
const (
	stateActive = "active"
	statePaused = "paused"
)

func bindMarks(b *binding, u *URD) {
	u.Title = bindTitle(b)
	u.Labels = bindLabels(b)
	u.Paused = b.enum("state", stateActive, statePaused) == statePaused
}

func bindTitle(b *binding) string {
	a := b.attr("title")
	switch {
	case a == nil:
		return ""
	case trim(a.value) == "":
		b.at(a, "title is empty", "")
	case strings.ContainsFunc(a.value, breaksLine):
		b.at(a, fmt.Sprintf("title %q is not one line: it contains a line end or another control character", a.value), "")
	case utf8.RuneCountInString(a.value) > LongestTitle:
		b.at(a, fmt.Sprintf("title is longer than %d characters", LongestTitle), "")
	}
	return a.value
}

// breaksLine reports whether a character is none of a line of text.
func breaksLine(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }

// bindLabels returns the labels sorted: they are a set, and in which order they were written says nothing.
func bindLabels(b *binding) []string {
	a := b.attr("labels")
	if a == nil {
		return nil
	}
	labels := strings.FieldsFunc(a.value, func(r rune) bool { return r < utf8.RuneSelf && isSpace(byte(r)) })
	slices.Sort(labels)
	switch {
	case len(labels) == 0:
		b.at(a, "labels is empty", "")
	case len(labels) > MostLabels:
		b.at(a, fmt.Sprintf("labels are more than %d", MostLabels), "")
	}
	for i, label := range labels {
		switch {
		case strings.ContainsFunc(label, breaksWord):
			b.at(a, fmt.Sprintf("label %q contains a control character, or white space that parts no labels", label), "")
		case utf8.RuneCountInString(label) > LongestLabel:
			b.at(a, fmt.Sprintf("label %q is longer than %d characters", label, LongestLabel), "")
		case i > 0 && label == labels[i-1]:
			b.at(a, fmt.Sprintf("label %q is given twice", label), "")
		}
	}
	return labels
}

// breaksWord reports whether a character is none of a label.
func breaksWord(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Z) }

// FitsLabel reports whether a text can be one of the labels of a request.
func FitsLabel(label string) bool {
	return label != "" && utf8.RuneCountInString(label) <= LongestLabel && !strings.ContainsFunc(label, breaksWord)
}

func (u *URD) plainMarks() bool {
	if !plainString(u.Title, LongestTitle, true) || len(u.Labels) > MostLabels {
		return false
	}
	for i, label := range u.Labels {
		if label == "" || !plainString(label, LongestLabel, false) || strings.ContainsFunc(label, breaksWord) || i > 0 && u.Labels[i-1] >= label {
			return false
		}
	}
	return true
}

func (u *URD) sortedLabels() []string { return slices.Sorted(slices.Values(u.Labels)) }

// labels returns the labels as they are written.
func (u *URD) labels() string { return strings.Join(u.sortedLabels(), " ") }

// state returns the state as it is written; empty for the one that is not.
func (u *URD) state() string {
	if u.Paused {
		return statePaused
	}
	return ""
}
