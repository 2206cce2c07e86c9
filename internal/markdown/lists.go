package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// listEnd is where a list ended: one that follows at once would be part of it, unless it has another marker.
type listEnd struct {
	at, depth int // in dst, and in containers
	marker    byte
}

// list writes a list. What stands in it beside its items belongs to the item before.
func (w *writer) list(n *html.Node) {
	ordered, number := n.Data == "ol", 1
	if start, err := strconv.Atoi(attribute(n, "start")); err == nil && ordered {
		number = start
	}
	items := w.items(ordered)
	for c := n.FirstChild; c != nil; {
		if isElement(c, "li") {
			if value, err := strconv.Atoi(attribute(c, "value")); err == nil && ordered {
				number = value
			}
			items.next(number)
			number++
		}
		c = items.add(c, func(n *html.Node) bool { return isElement(n, "li") })
	}
	items.end()
}

func isElement(n *html.Node, name string) bool { return n.Type == html.ElementNode && n.Data == name }

// definitions writes a list of terms with what they mean: each as an item, the term as its first paragraph.
func (w *writer) definitions(n *html.Node) {
	items := w.items(false)
	defined := true // the term before has a definition
	isPart := func(n *html.Node) bool { return isElement(n, "dt") || isElement(n, "dd") || isElement(n, "div") }
	var add func(n *html.Node)
	add = func(n *html.Node) {
		for c := n.FirstChild; c != nil; {
			switch {
			case isElement(c, "div") && n.Data == "dl" && w.kindOf(c) != skipped:
				add(c)
				c = c.NextSibling
				continue
			case isElement(c, "dt") && defined:
				items.next(0)
				defined = false
			case isElement(c, "dd"):
				defined = true
			}
			c = items.add(c, isPart)
		}
	}
	add(n)
	items.end()
}

// items writes the items of a list.
type items struct {
	w       *writer
	ordered bool
	marker  byte
	first   bool // no item is written yet
	begun   bool // there is an item
	tight   bool // the first item may follow the paragraph before it at once
	item    container
}

func (w *writer) items(ordered bool) *items {
	i := &items{w: w, ordered: ordered, marker: '-', first: true}
	if ordered {
		i.marker = '.'
	}
	if last := w.lastList; last.at == len(w.dst) && last.at > w.start && last.depth == len(w.containers) && last.marker == i.marker {
		i.marker = map[byte]byte{'-': '+', '.': ')'}[i.marker]
	}
	if n := len(w.containers); n > 0 {
		c := &w.containers[n-1]
		i.tight = c.blocks == 1 && !c.blank && w.paragraph
	}
	return i
}

// most is the highest number of an item that CommonMark has.
const most = 999_999_999

// next begins an item, with this number if the list has such.
func (i *items) next(number int) {
	marker := string(i.marker) + " "
	if i.ordered {
		marker = strconv.Itoa(min(max(number, 0), most)) + marker
	}
	switch {
	case i.first && (!i.begun || !i.item.used):
		i.tight = i.tight && (!i.ordered || number == 1) // no other interrupts a paragraph
	default:
		i.tight = !i.item.blank
	}
	i.begun = true
	i.item = container{first: marker, rest: strings.Repeat(" ", len(marker))}
}

// add writes a node, and those behind it up to the next part of the list, as content of an item. It returns that part.
func (i *items) add(n *html.Node, isPart func(*html.Node) bool) (next *html.Node) {
	i.write(func() {
		i.w.node(n)
		for next = n.NextSibling; next != nil && !isPart(next); next = next.NextSibling {
			i.w.node(next)
		}
		i.w.flush()
	})
	return next
}

// write writes what f writes as content of the item that has begun.
func (i *items) write(f func()) {
	if !i.begun {
		f()
		return
	}
	fresh := !i.item.used
	if fresh {
		i.w.tight = i.tight
	}
	i.item = i.w.within(i.item, f)
	if fresh && i.item.used {
		i.first = false
	}
	i.w.tight = false
}

func (i *items) end() {
	if !i.first {
		i.w.lastList = listEnd{len(i.w.dst), len(i.w.containers), i.marker}
	}
}
