package normalform

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Alignment leads from places in a normal form back to the text that it is of. The zero value is that of a text which
// is its own normal form.
type Alignment struct{ steps []step }

// step is a stretch of the form, up to that of the next one.
type step struct {
	form, text int32 // where it begins in either
	same       bool  // it is the same in the text; otherwise it is one letter, or several in one segment
}

// Align returns the normal form of a text, and how its places lie in that. A text of 2 GiB or more is its own form.
func Align(text string) (form string, a Alignment) {
	if Is(text) || len(text) > 1<<31-1 {
		return text, a
	}
	var out, segment []byte
	begin := 0 // of the segment, in the text
	flush := func(end int) {
		from := len(out)
		out = norm.NFC.Append(out, segment...)
		same := string(out[from:]) == string(segment) && string(segment) == text[begin:begin+len(segment)]
		a.add(step{int32(from), int32(begin), same})
		segment, begin = segment[:0], end
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case Ignored(r) && len(segment) == 0:
			begin = i + size
		case Ignored(r):
		default:
			if len(segment) > 0 && (!isSuspicious(r) || norm.NFC.PropertiesString(text[i:]).BoundaryBefore()) {
				flush(i)
			}
			segment = append(segment, text[i:i+size]...)
		}
		i += size
	}
	flush(len(text))
	a.add(step{int32(len(out)), int32(len(text)), true})
	return string(out), a
}

// add adds a step, unless the last one goes on with it.
func (a *Alignment) add(s step) {
	if n := len(a.steps); n > 0 && s.same && a.steps[n-1].same && s.form-a.steps[n-1].form == s.text-a.steps[n-1].text {
		return
	}
	a.steps = append(a.steps, s)
}

// Origin returns the stretch of the text whose form a stretch of the form is. One that begins or ends within a letter
// has all of it.
func (a Alignment) Origin(start, end int) (int, int) {
	if a.steps == nil {
		return start, end
	}
	from, to := a.at(start), a.at(end)
	first, last := a.steps[from], a.steps[to]
	begin, stop := int(first.text), int(last.text)
	if first.same {
		begin += start - int(first.form)
	}
	switch {
	case last.same:
		stop += end - int(last.form)
	case end > int(last.form):
		stop = int(a.steps[to+1].text)
	}
	return begin, stop
}

// at returns the number of the step that a place of the form lies in.
func (a Alignment) at(place int) int {
	i, found := slices.BinarySearchFunc(a.steps, int32(place), func(s step, place int32) int { return cmp.Compare(s.form, place) })
	if !found {
		i--
	}
	return i
}
