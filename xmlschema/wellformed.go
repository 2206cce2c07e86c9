package xmlschema

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What XML 1.0 (fifth edition) and Namespaces in XML 1.0 forbid, and encoding/xml lets pass. The reader is held against
// libxml2 (TestWhatLibxml2RefusesIsRefused): what that refuses is refused here.

const (
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
)

// overlooked finds what is not well-formed in a token that the XML decoder has let pass.
func overlooked(token xml.Token, at position, raw []byte) *fault {
	switch token := token.(type) {
	case xml.StartElement:
		return badReference(at, raw)
	case xml.CharData:
		if !bytes.HasPrefix(raw, []byte("<![CDATA[")) {
			return badReference(at, raw)
		}
	case xml.Comment:
		return badCharacter(at, raw)
	case xml.Directive:
		return &fault{at, noDoctype}
	case xml.ProcInst:
		if f := badCharacter(at, raw); f != nil {
			return f
		}
		return badInstruction(token.Target, at, raw)
	}
	return nil
}

var reference = regexp.MustCompile(`&#(?:x[0-9a-fA-F]+|[0-9]+);`)

// badReference finds a reference to half of a character: the decoder takes it for U+FFFD.
func badReference(at position, raw []byte) *fault {
	if !bytes.Contains(raw, []byte("&#")) { // as mostly
		return nil
	}
	for _, found := range reference.FindAllIndex(raw, -1) {
		number := "0" + string(raw[found[0]+len("&#"):found[1]-1])
		if number[1] != 'x' {
			number = strings.TrimLeft(number, "0")
		}
		if n, err := strconv.ParseUint(number, 0, 32); err == nil && 0xD800 <= n && n <= 0xDFFF {
			return &fault{at.after(raw[:found[0]]), fmt.Sprintf("%s is the half of a surrogate pair, and no character", raw[found[0]:found[1]])}
		}
	}
	return nil
}

// badCharacter finds what is no character of XML in a comment or an instruction.
func badCharacter(at position, raw []byte) *fault {
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &fault{at.after(raw[:i]), "invalid UTF-8"}
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0xFFFE, r == 0xFFFF:
			return &fault{at.after(raw[:i]), fmt.Sprintf("illegal character code %U", r)}
		}
		i += size
	}
	return nil
}

var declaration = func() *regexp.Regexp {
	const s = `[ \t\r\n]`
	is := func(name, value string) string {
		return s + "+" + name + s + "*=" + s + `*(?:"` + value + `"|'` + value + `')`
	}
	return regexp.MustCompile(`^<\?xml` + is("version", `1\.0`) + "(?:" + is("encoding", "[A-Za-z][A-Za-z0-9._-]*") + ")?" +
		"(?:" + is("standalone", "(?:yes|no)") + ")?" + s + `*\?>$`)
}()

func badInstruction(target string, at position, raw []byte) *fault {
	rest := raw[len("<?")+len(target):]
	switch {
	case target == "xml" && at != (position{1, 1}):
		return &fault{at, "the XML declaration is not at the start of the document"}
	case target == "xml" && unknownEncoding(declaredEncoding(raw)): // in UTF-16, which the mark alone tells
		return &fault{at, fmt.Sprintf("encoding %s is not known", declaredEncoding(raw))}
	case target == "xml" && !declaration.Match(raw):
		return &fault{at, `the XML declaration is not of the form <?xml version="1.0" encoding="UTF-8" standalone="yes"?>, where the last two may be left out`}
	case target != "xml" && strings.EqualFold(target, "xml"):
		return &fault{at, fmt.Sprintf("an instruction cannot be called %s: the XML declaration is in small letters", target)}
	case strings.Contains(target, ":"):
		return &fault{at, fmt.Sprintf("the name of instruction %s has a colon", target)}
	case !isSpace(rest[0]) && !bytes.HasPrefix(rest, []byte("?>")):
		return &fault{at.after(raw[:len(raw)-len(rest)]), fmt.Sprintf("white space is missing after <?%s", target)}
	}
	return nil
}

// badDeclaration returns why a namespace cannot be declared; empty if it can.
func badDeclaration(name xml.Name, namespace string) string {
	prefixed := name.Space == "xmlns"
	switch {
	case prefixed && name.Local == "xmlns":
		return "the prefix xmlns cannot be declared"
	case prefixed && name.Local == "xml" && namespace != xmlNamespace:
		return "the prefix xml cannot be bound to another namespace than " + xmlNamespace
	case namespace == xmlNamespace && !(prefixed && name.Local == "xml"):
		return "namespace " + namespace + " has the prefix xml, and no other"
	case namespace == xmlnsNamespace:
		return "namespace " + namespace + " cannot be declared"
	case prefixed && namespace == "":
		return "a namespace prefix cannot be bound to nothing"
	case prefixed && !beginsName(name.Local):
		return fmt.Sprintf("namespace prefix %s does not begin with a letter", name.Local)
	}
	return ""
}

// beginsName reports whether the first character of what may stand within a name may begin one (XML 1.0, section 2.3).
func beginsName(name string) bool {
	r, _ := utf8.DecodeRuneInString(name)
	return !strings.ContainsRune("-.0123456789\u00b7\u203f\u2040", r) && (r < 0x300 || r > 0x36f)
}
