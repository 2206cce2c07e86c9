package usage

import (
	"strings"
	"unicode"

	"github.com/webrace/webrace/internal/structured"
)

// preference is what a vocabulary states of one purpose.
type preference struct {
	purpose Purpose
	allowed bool
}

// longestValue is how many bytes of a dictionary are read.
const longestValue = 8 << 10

// labels are the categories of Content-Usage: train-ai and search of draft-ietf-aipref-vocab-05 to -08, the others of
// earlier drafts, which sites have copied. Others are ignored, as the drafts ask.
var labels = []struct {
	label   string
	purpose Purpose
}{
	{"train-ai", TrainAI}, {"search", Search},
	{"train-genai", TrainAI}, {"genai", TrainAI}, {"ai", TrainAI},
	{"ai-use", AIInput}, {"ai-input", AIInput}, {"ai-output", AIInput}, {"inference", AIInput},
}

// everything are the labels of earlier drafts for a category that has all others in it. What is stated of a narrower
// one counts more.
var everything = []string{"bots", "all", "tdm"}

// contentUsage reads a statement of preference (draft-ietf-aipref-vocab, section 6): a dictionary with the tokens y
// and n. Anything else states nothing.
func contentUsage(value string) (stated []preference) {
	if len(value) > longestValue {
		return nil
	}
	d, err := structured.ParseDictionary(value)
	if err != nil {
		return nil
	}
	var known preferences
	for _, l := range labels {
		if v, ok := d.Values[l.label]; ok && !v.IsList && v.Kind == structured.Token {
			known.token(l.purpose, v.Text, "y", "n")
		}
	}
	var wide preferences
	for _, label := range everything {
		if v, ok := d.Values[label]; ok && !v.IsList && v.Kind == structured.Token {
			for _, p := range Purposes {
				wide.token(p, v.Text, "y", "n")
			}
		}
	}
	return known.orElse(wide)
}

// contentSignal reads "search=yes, ai-train=no". Its keys and values are read in any case, and what is neither yes nor
// no, as of the key use, states nothing.
func contentSignal(value string) []preference {
	var known preferences
	for member := range strings.SplitSeq(cutBytes(value, longestValue), ",") {
		key, word, _ := strings.Cut(strings.ToLower(member), "=")
		word = strings.TrimSpace(word)
		switch strings.TrimSpace(key) {
		case "search":
			known.token(Search, word, "yes", "no")
		case "ai-input":
			known.token(AIInput, word, "yes", "no")
		case "ai-train":
			known.token(TrainAI, word, "yes", "no")
		}
	}
	return known.orElse(preferences{})
}

// preferences are those of one text. Of two of one purpose, the more restrictive counts.
type preferences struct{ stated, forbidden [4]bool } // as Purposes

func (all *preferences) token(p Purpose, word, yes, no string) {
	for i, known := range Purposes {
		if known == p && (word == yes || word == no) {
			all.stated[i] = true
			all.forbidden[i] = all.forbidden[i] || word == no
		}
	}
}

// orElse returns all of them, and of others what is not stated.
func (all preferences) orElse(others preferences) (list []preference) {
	for i, p := range Purposes {
		switch {
		case all.stated[i]:
			list = append(list, preference{p, !all.forbidden[i]})
		case others.stated[i]:
			list = append(list, preference{p, !others.forbidden[i]})
		}
	}
	return list
}

// noAI is what noai states, and noimageai of an image: it is for no model (DeviantArt, 2022, which named training
// alone; a page that is given to a model is used by it, too).
var noAI = []preference{{TrainAI, false}, {AIInput, false}}

// robotsTag reads the directives of X-Robots-Tag or of the meta element robots. What follows the name of a robot is
// for that one alone.
func robotsTag(value string, isImage bool) []preference {
	ours := true
	for part := range strings.FieldsFuncSeq(strings.ToLower(value), func(r rune) bool { return r == ',' || r == ';' }) {
		for {
			name, rest, named := strings.Cut(part, ":")
			name = strings.TrimSpace(name)
			if !named || strings.HasPrefix(name, "max-") || name == "unavailable_after" || strings.ContainsFunc(name, unicode.IsSpace) {
				break
			}
			ours, part = isOurs(name), rest
		}
		for word := range strings.FieldsSeq(part) {
			if ours && (word == "noai" || word == "noimageai" && isImage) {
				return noAI
			}
		}
	}
	return nil
}

// isOurs reports whether what is asked of a robot of this name is asked of us.
func isOurs(name string) bool { return name == "*" || name == "robots" || name == robotsName }

const robotsName = "webrace" // what pages call the crawler by, as extract has it

// isInvisible reports what a text may not hold that is shown to a person.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

func cutBytes(s string, most int) string { return s[:min(len(s), most)] }
