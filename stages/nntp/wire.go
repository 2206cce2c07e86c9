package nntp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/webrace/webrace/stages/internal/agent"
)

// What goes over a connection: commands, answers of a line, and blocks of lines (RFC 3977, section 3.1). Lines end with
// CR LF and with nothing else, so that what stands in an article is never taken for an answer.

// longestLine is how many bytes a line may have, but those of articles.
const longestLine = 64 << 10

// buffered returns a reader for the functions below.
func buffered(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, longestLine) }

// errLine means that what was sent is no line of NNTP.
var errLine = agent.Failf("the server sends a line that does not end with CR LF, or has more than %d bytes", longestLine)

// readLine returns the next line without its end, until the next one is read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errLine
	case err != nil:
		return nil, unexpected(err)
	}
	line, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return nil, errLine
	}
	return line, nil
}

// unexpected makes an error of an end where none may be.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// reply is the answer to a command.
type reply struct {
	code int
	text string // that people may see: without control characters
}

// parseReply takes the line of an answer apart (RFC 3977, section 3.2).
func parseReply(line []byte) (r reply, ok bool) {
	code, text, _ := strings.Cut(string(line), " ")
	n, err := strconv.Atoi(code)
	if len(code) != 3 || err != nil || n < 100 || n > 599 {
		return reply{}, false
	}
	return reply{n, visible(text)}, true
}

// visible returns a text such that it can be shown in one line.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// mostNumber is the greatest number that an article may have. By RFC 3977, section 6, it has 31 bits, which some
// servers have gone beyond.
const mostNumber = 1 << 53

// parseNumber reads the number of an article.
func parseNumber(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > mostNumber {
		return 0, agent.Failf("the server names an article %.40q, which is no number", visible(s))
	}
	return int64(n), nil
}

// readList reads the lines of a block, until each returns an error; a block is always read to its end, otherwise.
func readList(r *bufio.Reader, each func(line []byte) error) error {
	for {
		line, err := readLine(r)
		switch {
		case err != nil:
			return err
		case len(line) == 1 && line[0] == '.':
			return nil
		}
		if err := each(bytes.TrimPrefix(line, []byte("."))); err != nil {
			return err
		}
	}
}

// parseOverview returns the number of the article that a line of an overview is of (RFC 3977, section 8.3.2).
func parseOverview(line []byte) (int64, error) {
	number, _, _ := bytes.Cut(line, []byte("\t"))
	return parseNumber(string(number))
}

// readArticle reads a block as it was before dots were put at the beginnings of lines, or the first most bytes of it.
// Where it is cut, what follows is still to come.
func readArticle(r *bufio.Reader, most int64) (body []byte, cut bool, err error) {
	begins := true // a line
	cr := false    // what came before ends with CR
	for {
		piece, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, false, unexpected(err)
		}
		if begins && string(piece) == ".\r\n" {
			return body, false, nil
		}
		ended := bytes.HasSuffix(piece, []byte("\r\n")) || cr && string(piece) == "\n"
		cr = piece[len(piece)-1] == '\r'
		if begins && piece[0] == '.' {
			piece = piece[1:]
		}
		if left := most - int64(len(body)); int64(len(piece)) > left {
			return append(body, piece[:left]...), true, nil
		}
		body = append(body, piece...)
		begins = ended
	}
}

// command makes a command of words, of which none may be more than a word to a server.
func command(verb string, words ...string) (string, error) {
	for _, word := range words {
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", agent.Failf("%s: what is to be sent has control characters, and is not sent", verb)
		}
	}
	return strings.Join(append([]string{verb}, words...), " ") + "\r\n", nil
}

// rangeOf is a range of numbers as commands have it.
func rangeOf(first, last int64) string { return fmt.Sprintf("%d-%d", first, last) }
