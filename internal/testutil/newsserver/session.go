package newsserver

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
)

// session is what a server does for one client.
type session struct {
	*Server
	secure, in bool
	user       string
	group      *group
}

func (s *session) serve(conn net.Conn) {
	io.WriteString(conn, "200 news.example\r\n")
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		io.WriteString(&s.log, line)
		words := append(strings.Fields(line), "", "")
		if words[0] == "STARTTLS" && s.options.Security == STARTTLS && !s.secure {
			io.WriteString(conn, "382 go on\r\n")
			secure := tls.Server(conn, s.tls())
			conn, lines, s.secure, s.group = secure, bufio.NewReader(secure), true, nil
			continue
		}
		s.mu.Lock()
		answer := s.answer(words)
		s.mu.Unlock()
		io.WriteString(conn, answer+"\r\n")
		if words[0] == "QUIT" {
			return
		}
	}
}

// answer answers one command.
func (s *session) answer(words []string) string {
	verb, argument := words[0], words[1]
	guarded := slices.Contains([]string{"GROUP", "OVER", "XOVER", "ARTICLE", "STAT"}, verb)
	switch {
	case verb == "MODE" && !s.options.Old:
		return "200 reader"
	case verb == "QUIT":
		return "205 bye"
	case (guarded || verb == "AUTHINFO") && s.options.OnlySecure && !s.secure:
		return "483 not without TLS"
	case verb == "AUTHINFO" && argument == "USER":
		s.user = words[2]
		return "381 go on"
	case verb == "AUTHINFO" && argument == "PASS":
		if s.in = s.user == User && words[2] == Password; !s.in {
			return "481 no"
		}
		return "281 welcome"
	case guarded && s.options.Account && !s.in:
		return "480 who is it?"
	case verb == "GROUP":
		return s.choose(argument)
	case guarded && s.group == nil:
		return "412 of which group?"
	case verb == "OVER" && !s.options.Old || verb == "XOVER":
		return s.over(argument)
	case verb == "ARTICLE" || verb == "STAT":
		return s.article(verb, argument)
	}
	return "500 what?"
}

func (s *session) choose(name string) string {
	g := s.groups[name]
	if g == nil {
		return "411 no such group"
	}
	s.group = g
	low := g.next
	if len(g.ids) > 0 {
		low = slices.Min(slices.Collect(maps.Keys(g.ids)))
	}
	return fmt.Sprintf("211 %d %d %d %s", len(g.ids), low, g.next-1, name)
}

func (s *session) over(span string) string {
	from, to, _ := strings.Cut(span, "-")
	first, _ := strconv.Atoi(from)
	last, _ := strconv.Atoi(to)
	var b strings.Builder
	for _, n := range slices.Sorted(maps.Keys(s.group.ids)) {
		if n >= first && n <= last {
			article := s.posted[s.group.ids[n]]
			fmt.Fprintf(&b, "%d\t%s\t%s\t\t%s\t\t%d\t1\r\n", n, field(article, "Subject"), field(article, "From"), s.group.ids[n], len(article))
		}
	}
	if b.Len() == 0 {
		return "423 none"
	}
	return "224 they follow\r\n" + b.String() + "."
}

func (s *session) article(verb, number string) string {
	n, _ := strconv.Atoi(number)
	id, ok := s.group.ids[n]
	if !ok {
		return "423 it is gone"
	}
	if verb == "STAT" {
		return fmt.Sprintf("223 %d %s", n, id)
	}
	stuffed := strings.ReplaceAll("\r\n"+s.posted[id], "\r\n.", "\r\n..")
	return fmt.Sprintf("220 %d %s", n, id) + stuffed + "."
}
