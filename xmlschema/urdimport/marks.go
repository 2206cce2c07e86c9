package urdimport

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/xmlschema"
)

// titleOf makes a title of the name that something has in another program: one line, as long as a title may be.
func titleOf(name string) string {
	return cut(wording.OneLine(plain(name)), xmlschema.LongestTitle)
}

// labelsOf makes labels of names, each once; those of which none can be made, or for which there is no room, are lost.
// A name of several words is one label, with hyphens between them.
func labelsOf(names []string) (labels, lost []string) {
	for _, name := range names {
		label := cut(strings.Join(strings.Fields(plain(name)), "-"), xmlschema.LongestLabel)
		switch {
		case label == "" || slices.Contains(labels, label):
		case len(labels) == xmlschema.MostLabels || !xmlschema.FitsLabel(label):
			lost = append(lost, name)
		default:
			labels = append(labels, label)
		}
	}
	return labels, lost
}

// plain writes what no text of ours has as spaces.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || r&0xfffe == 0xfffe {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, " "))
}

// cut leaves so many characters of a text.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return strings.TrimSpace(string(runes[:most]))
	}
	return text
}

// marked is what a watch of changedetection.io says for its owner alone.
type marked struct {
	Title json.RawMessage `json:"title"`
	Tag   json.RawMessage `json:"tag"`  // names between commas, in older releases
	Tags  json.RawMessage `json:"tags"` // ids of what the settings name
}

// tagsOf returns the names of the tags in the settings, by their ids.
func tagsOf(settings json.RawMessage) map[string]string {
	names := make(map[string]string)
	for id, tag := range lenient[map[string]json.RawMessage](settings) {
		names[id] = lenient[struct{ Title string }](tag).Title
	}
	return names
}

// lenient reads a value. What is of another type was set by no release that is known, and is as if it were not there.
func lenient[T any](raw json.RawMessage) (value T) {
	if raw == nil || json.Unmarshal(raw, &value) != nil {
		var none T
		return none
	}
	return value
}

// mark takes over the title and tags of a watch. A tag that nothing names is lost.
func (m marked) mark(u *xmlschema.URD, tags map[string]string) (lost []string) {
	u.Title = titleOf(lenient[string](m.Title))
	names := strings.Split(lenient[string](m.Tag), ",")
	for _, id := range lenient[[]string](m.Tags) {
		if name := tags[id]; name != "" {
			names = append(names, name)
		} else {
			lost = append(lost, fmt.Sprintf("tag %.80q", id))
		}
	}
	var beyond []string
	u.Labels, beyond = labelsOf(names)
	for _, name := range beyond {
		lost = append(lost, fmt.Sprintf("tag %.80q", name))
	}
	return lost
}
