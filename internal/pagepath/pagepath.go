// Package pagepath gives the copy of each page a place in a tree of files: a folder for its host, folders for those of
// its path, and a file that is called as its last part. https://example.org/docs/setup is example.org/docs/setup.md.
//
// Nothing that a site names leads out of the tree or is refused by a file system, and two URLs are never one file: not
// where files that differ in case, or in how Unicode composes a letter, are the same (macOS, Windows), nor where one
// would be a folder in which the other lies. The path of a URL stays the same, whatever else is in the tree.
package pagepath

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/urlnorm"
)

const (
	longestName    = 200 // bytes of a file's or folder's name; file systems take 255
	longestFolders = 600 // bytes of all folders of a path, which is no longer than 801 then; macOS takes 1,024
	hashDigits     = 20  // of base 32: that two of 10^12 URLs have the same has a chance of 1 in 10^6
)

// Of returns the path of a URL's file, relative and with slashes. Its extension is ext, which begins with a dot and
// has lower-case letters, digits and dots behind it, 16 bytes at most.
//
// A URL that ends in a slash is the file "index" of its folder. Names have a URL's own words: lower-case letters,
// digits, "-", "_" and "." as they stand there, and letters of all scripts decoded; everything else is "_". A URL of
// which that loses anything, as of one with a query or capitals, has a hash of it behind the name:
// wiki/Storm~6xrw….md. Of others the URL can be told from the path: the folder of a host has its port and its scheme
// behind a "+", unless it is https (example.org+8080+http), and a folder's name an "_" more if it has a dot or ends
// in an "_".
func Of(rawURL, ext string) string {
	n := namer{exact: true}
	scheme, rest, ok := urlnorm.CutScheme(rawURL)
	if !ok {
		scheme, rest, n.exact = "none", rawURL, false
	}
	host, tail := urlnorm.CutHost(rest)
	if len(host)+len(tail) < len(rest) {
		n.exact = false // there is a user name and password, which are not for others to see
	}
	path := n.host(scheme, host)

	tail, isPath := strings.CutPrefix(tail, "/")
	if !isPath {
		n.exact = false
	}
	query := len(tail)
	if at := strings.IndexAny(tail, "?#"); at >= 0 {
		query, n.exact = at, false
	}
	folders, last := "", tail
	if at := strings.LastIndexByte(tail[:query], '/'); at >= 0 {
		folders, last = tail[:at], tail[at+1:]
		path = n.folders(path, folders)
	}
	return path + "/" + n.file(rawURL, last, ext)
}

// namer makes names, and keeps whether the URL can be told from them.
type namer struct{ exact bool }

// host returns the name of the folder of a scheme, host and port.
func (n *namer) host(scheme, host string) string {
	end := strings.IndexByte(host, ']') + 1 // of an IPv6 address
	if port := strings.IndexByte(host[end:], ':'); port >= 0 {
		end += port
	} else {
		end = len(host)
	}
	name := n.name(host[:end], longestName/2)
	if end < len(host) {
		port := host[end+1:]
		n.exact = n.exact && strings.Trim(port, "0123456789") == ""
		name += "+" + n.name(port, 20)
	}
	if scheme != "https" {
		n.exact = n.exact && 'a' <= scheme[0] && scheme[0] <= 'z' // or it were a port
		name += "+" + n.name(scheme, 20)
	}
	return name
}

// folders adds those of a URL's path.
func (n *namer) folders(path, folders string) string {
	for segment := range strings.SplitSeq(folders, "/") {
		if segment == "" {
			n.exact = false
			continue
		}
		name := n.name(segment, longestName-1)
		if strings.Contains(name, ".") || strings.HasSuffix(name, "_") {
			name += "_" // so it is no file, all of which end in a dot and an extension
		}
		if len(path)+len(name) >= longestFolders {
			n.exact = false
			break
		}
		path += "/" + name
	}
	return path
}

// file returns the name of the file of a URL that ends in last.
func (n *namer) file(rawURL, last, ext string) string {
	switch last {
	case "":
		last = "index"
	case "index":
		n.exact = false
	}
	name := n.name(last, longestName-len(ext))
	if n.exact {
		return name + ext
	}
	sum := sha256.Sum256([]byte(rawURL))
	hash := "~" + hashEncoding.EncodeToString(sum[:])[:hashDigits]
	return cut(name, longestName-len(hash)-len(ext)) + hash + ext
}

var hashEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// name returns a name of at most so many bytes that every file system takes, and is no more than a name.
func (n *namer) name(segment string, most int) string {
	var b strings.Builder
	for i := 0; i < len(segment); {
		c, size := segment[i], 1
		r := rune(c)
		if c == '%' || c >= utf8.RuneSelf {
			r, size = decode(segment[i:])
		}
		if isExact := 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'; !isExact {
			n.exact = false
			if !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune("-_.~=+,@", r) {
				r = '_'
			}
		}
		b.WriteRune(r)
		i += size
	}
	name := b.String()
	safe := cut(name, most)
	if safe == "" {
		safe = "_"
	} else if safe[0] == '.' || safe[0] == '-' { // hidden, or taken for an option
		safe = "_" + safe[1:]
	}
	if strings.HasSuffix(safe, ".") {
		safe = safe[:len(safe)-1] + "_"
	}
	if IsDevice(safe) {
		safe = "_" + cut(safe, most-1)
	}
	if safe != name {
		n.exact = false
	}
	return safe
}

// decode returns the character that a text begins with, which may be escaped, and how long it is there.
func decode(s string) (r rune, size int) {
	var octets [utf8.UTFMax]byte
	count := 0
	for count < len(octets) && size < len(s) {
		if s[size] != '%' {
			octets[count] = s[size]
			size++
		} else if size+2 < len(s) && isHex(s[size+1]) && isHex(s[size+2]) {
			octets[count] = unhex(s[size+1])<<4 | unhex(s[size+2])
			size += 3
		} else {
			break
		}
		count++
		if utf8.FullRune(octets[:count]) {
			r, used := utf8.DecodeRune(octets[:count])
			if used == count {
				return r, size
			}
			break
		}
	}
	return utf8.RuneError, 1
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// cut returns at most so many bytes of a text, without half a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// IsDevice reports whether a name is that of a device of Windows, whatever its extension.
func IsDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	number, found := strings.CutPrefix(stem, "com")
	if !found {
		number, found = strings.CutPrefix(stem, "lpt")
	}
	return found && utf8.RuneCountInString(number) == 1 && strings.Contains("0123456789¹²³", number)
}
