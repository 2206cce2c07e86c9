package watch

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// looks is how often it is looked whether the terminal has another size.
const looks = 200 * time.Millisecond

// What a terminal is told: to show another screen without a cursor, to show the one that was there before
// again, to write from the top, and to forget the rest of a line, or of the screen.
const (
	enter     = "\x1b[?1049h\x1b[?25l"
	leave     = "\x1b[?25h\x1b[?1049l"
	top       = "\x1b[H"
	endOfLine = "\x1b[K"
	endOfAll  = "\x1b[J"
)

// Run shows a model on a terminal in raw mode until it ends, or its context does. Keys come from in, which is
// read until it ends; size tells how many columns and lines there are.
func Run(in io.Reader, out io.Writer, dimensions func() (width, height int), m *Model) error {
	defer m.cancel()
	messages := make(chan message)
	send := func(msg message) {
		select {
		case messages <- msg:
		case <-m.ctx.Done():
		}
	}
	do := func(c command) {
		if c != nil {
			go func() { send(c()) }()
		}
	}
	go readKeys(in, send)
	tick := time.NewTicker(looks)
	defer tick.Stop()
	fmt.Fprint(out, enter)
	defer fmt.Fprint(out, leave)
	s := &surface{out: out}
	do(m.ask)
	for {
		if width, height := dimensions(); width != m.width || height != m.height {
			m.update(size{width, height})
			s.shown = ""
		}
		if err := s.draw(m.view()); err != nil {
			return err
		}
		select {
		case <-m.ctx.Done():
			return nil
		case <-tick.C:
		case msg := <-messages:
			do(m.update(msg))
		}
	}
}

// surface is what a terminal shows.
type surface struct {
	out   io.Writer
	shown string
}

// draw writes a view over the one before, if it is another.
func (s *surface) draw(view string) error {
	if view == s.shown {
		return nil
	}
	s.shown = view
	text := strings.ReplaceAll(strings.TrimSuffix(view, "\n"), "\n", endOfLine+"\r\n")
	_, err := io.WriteString(s.out, top+text+endOfLine+endOfAll)
	return err
}

// readKeys sends the keys that are pressed. What a key sends comes in one piece.
func readKeys(in io.Reader, send func(message)) {
	buffer := make([]byte, 256)
	for {
		n, err := in.Read(buffer)
		for text := buffer[:n]; len(text) > 0; {
			name, size := keyOf(text)
			text = text[size:]
			if name != "" {
				send(key(name))
			}
		}
		if err != nil {
			return
		}
	}
}

// sequences are what keys without a character send.
var sequences = map[string]string{
	"\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left", "\x1b[H": "home", "\x1b[F": "end",
	"\x1bOA": "up", "\x1bOB": "down", "\x1bOC": "right", "\x1bOD": "left", "\x1bOH": "home", "\x1bOF": "end",
	"\x1b[1~": "home", "\x1b[4~": "end", "\x03": "ctrl-c",
}

// keyOf returns the name of the first key of what came, and how much of it the key is. A key that is not
// known has no name.
func keyOf(text []byte) (name string, size int) {
	for sequence, name := range sequences {
		if strings.HasPrefix(string(text), sequence) {
			return name, len(sequence)
		}
	}
	if text[0] != 0x1b {
		_, size := utf8.DecodeRune(text)
		return string(text[:size]), size
	}
	if len(text) > 1 && (text[1] == '[' || text[1] == 'O') {
		return "", len(text) // of another key, whose end is not told
	}
	return "esc", 1
}
