package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// branch is a list, of a kind of units: ul, table, dl or boxes.
type branch struct {
	kind  string
	units []*unitOfTree
}

// unitOfTree is an item, a row, a term with what is said of it, or a box.
type unitOfTree struct {
	class  string // of a box
	fields []field
	within []*branch
	key    string // the part that it is; empty for none
}

// field is a block, which may be a heading, and a link.
type field struct {
	words, link string
	isHeading   bool
}

// tree is a page.
type tree struct {
	*rand.Rand
	prose    []string // a paragraph in front of each branch
	branches []*branch
}

var kindsOfBranches = []string{"ul", "table", "dl", "boxes"}

func (t *tree) words() string {
	if t.IntN(2) == 0 {
		return fmt.Sprint("boat ", t.IntN(100))
	}
	return []string{"boat", "oar", "a sail", "old rope", "3", "(12)", "3 euro", "4 euro", "sold"}[t.IntN(9)]
}

func (t *tree) field() field {
	f := field{words: t.words(), isHeading: t.IntN(8) == 0}
	if t.IntN(4) == 0 {
		f.link = t.link()
	}
	return f
}

func (t *tree) link() string { return fmt.Sprint("/o/", t.IntN(12)) }

func (t *tree) unit(depth int) *unitOfTree {
	u := &unitOfTree{class: "o"}
	if t.IntN(6) == 0 {
		u.class = "p"
	}
	n := 1 + t.IntN(3)
	if t.IntN(100) == 0 {
		n = 30 + t.IntN(5) // too many, or nearly so
	}
	for range n {
		u.fields = append(u.fields, t.field())
	}
	if t.IntN(3) > 0 {
		u.fields[0].link = t.link()
	}
	for depth < 2 && t.IntN(6) == 0 {
		u.within = append(u.within, t.branch(depth+1))
	}
	return u
}

func (t *tree) branch(depth int) *branch {
	b := &branch{kind: kindsOfBranches[t.IntN(len(kindsOfBranches))]}
	for range 1 + t.IntN(5) {
		b.units = append(b.units, t.unit(depth))
	}
	return b
}

// clone returns the unit again, for another version of the page.
func (u *unitOfTree) clone() *unitOfTree {
	c := &unitOfTree{class: u.class, fields: slices.Clone(u.fields)}
	for _, b := range u.within {
		c.within = append(c.within, b.clone())
	}
	return c
}

func (b *branch) clone() *branch {
	c := &branch{kind: b.kind}
	for _, u := range b.units {
		c.units = append(c.units, u.clone())
	}
	return c
}

// all returns the branches, and what is within them.
func (t *tree) all() (all []*branch) {
	var add func(branches []*branch)
	add = func(branches []*branch) {
		for _, b := range branches {
			all = append(all, b)
			for _, u := range b.units {
				add(u.within)
			}
		}
	}
	add(t.branches)
	return all
}

// edit changes the tree.
func (t *tree) edit() {
	all := t.all()
	if len(all) == 0 || t.IntN(15) == 0 {
		t.prose, t.branches = append(t.prose, t.words()), append(t.branches, t.branch(0))
		return
	}
	b := all[t.IntN(len(all))]
	i := t.IntN(len(b.units))
	u := b.units[i]
	k := t.IntN(len(u.fields))
	switch t.IntN(12) {
	case 0: // in front
		b.units = slices.Insert(b.units, 0, t.unit(1))
	case 1:
		b.units = slices.Insert(b.units, i, u.clone())
	case 2:
		if len(b.units) > 1 {
			b.units = slices.Delete(b.units, i, i+1)
		}
	case 3, 4:
		u.fields[k].words = t.words()
	case 5: // a column
		for _, u := range b.units {
			u.fields = slices.Insert(u.fields, min(k, len(u.fields)), t.field())
		}
	case 6:
		for _, u := range b.units {
			if len(u.fields) > 1 {
				u.fields = slices.Delete(u.fields, min(k, len(u.fields)-1), min(k, len(u.fields)-1)+1)
			}
		}
	case 7:
		j := t.IntN(len(b.units))
		b.units[i], b.units[j] = b.units[j], b.units[i]
	case 8:
		u.fields[k].link = t.link()
	case 9: // as in two offers that change their prices into each other's
		other := b.units[t.IntN(len(b.units))]
		j := t.IntN(len(other.fields))
		u.fields[k].words, other.fields[j].words = other.fields[j].words, u.fields[k].words
	case 10:
		if u.within = nil; t.IntN(2) == 0 {
			u.within = []*branch{t.branch(1)}
		}
	case 11:
		t.prose[t.IntN(len(t.prose))] = t.words()
	}
}

func (t *tree) html() string {
	out := "<!DOCTYPE html><title>Harbour</title>"
	for i, b := range t.branches {
		out += "<p>" + t.prose[i] + "</p>" + t.write(b)
	}
	return out
}

// end writes an end tag, or leaves it out.
func (t *tree) end(tag string) string { return []string{"</" + tag + ">", "\n"}[t.IntN(2)] }

func (t *tree) write(b *branch) string {
	around := map[string]string{"ul": "ul", "table": "table", "dl": "dl", "boxes": "div"}[b.kind]
	out := "<" + around + ">"
	for _, u := range b.units {
		within := ""
		for _, b := range u.within {
			within += t.write(b)
		}
		switch b.kind {
		case "ul":
			out += "<li>" + fieldsIn(u.fields, func(int) (string, string) { return "<p>", "</p>" }) + within + t.end("li")
		case "boxes":
			out += "<div class=" + u.class + ">" + fieldsIn(u.fields, func(int) (string, string) { return "<div>", "</div>" }) + within + "</div>"
		case "table":
			out += "<tr>" + fieldsIn(u.fields, func(int) (string, string) { return "<td>", t.end("td") }) + "<td>" + within + t.end("td") + t.end("tr")
		case "dl":
			out += fieldsIn(u.fields, func(i int) (string, string) {
				if i == 0 {
					return "<dt>", t.end("dt")
				}
				return "<dd>", t.end("dd")
			}) + "<dd>" + within + t.end("dd")
		}
	}
	return out + "</" + around + ">"
}

func fieldsIn(fields []field, element func(i int) (start, end string)) (out string) {
	for i, f := range fields {
		words := f.words
		if f.link != "" {
			words = "<a href=" + f.link + ">" + words + "</a>"
		}
		if f.isHeading {
			words = "<h3>" + words + "</h3>"
		}
		start, end := element(i)
		out += start + words + end
	}
	return out
}
