package urlnorm

// isPlain reports whether a URL is normalized, as far as that can be told byte by byte: most of what a crawler
// handles was normalized before. What it is not sure of is for the standard's parser.
func isPlain(s string) bool {
	end := hostEnd(s)
	var scheme string
	switch {
	case end == 0 || len(s) > MaxLength:
		return false
	case s[:min(len(s), 7)] == "http://":
		scheme = "http:"
	case s[:min(len(s), 8)] == "https://":
		scheme = "https:"
	default:
		return false
	}
	return plainAuthority(scheme, s[len(scheme)+2:end]) && plainPath(s[end:])
}

// plainPath reports whether what follows the host, a path and perhaps a query, stays as it is.
func plainPath(s string) bool {
	if s == "" || s[0] != '/' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '?':
			return plainQuery(s[i:])
		case c == '.' && s[i-1] == '/', c == '%' && (!isEscape(s, i) || escapesDot(s, i)):
			return false // perhaps a dot segment
		case !isPath[c] && c != '%':
			return false
		}
	}
	return true
}

func plainQuery(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isQuery[c] && (c != '%' || !isEscape(s, i)) {
			return false
		}
	}
	return true
}

// escapesDot reports whether the escape at i stands for a dot, which is one where it makes a dot segment.
func escapesDot[T string | []byte](s T, i int) bool { return s[i+1] == '2' && s[i+2]|0x20 == 'e' }

// plainAuthority reports whether the standard's parser leaves a host, and the port that may follow it, as they
// are.
func plainAuthority[T string | []byte](scheme string, authority T) bool {
	for i := range len(authority) {
		if authority[i] == ':' {
			return plainPort(scheme, authority[i+1:]) && plainName(authority[:i])
		}
	}
	return plainName(authority)
}

func plainName[T string | []byte](name T) bool { return plainHost(name) || plainIPv4(name) }

// plainPort reports whether a port is written as the standard writes it: a number below 65536 that is not the
// scheme's own.
func plainPort[T string | []byte](scheme string, port T) bool {
	n := 0
	for i := range len(port) {
		c := port[i]
		if c < '0' || c > '9' || i >= 5 {
			return false
		}
		n = 10*n + int(c-'0')
	}
	return len(port) > 0 && port[0] != '0' && n < 1<<16 && !(scheme == "http:" && n == 80) && !(scheme == "https:" && n == 443)
}

// plainIPv4 reports whether the host is an address as the standard writes it: four decimal numbers below 256.
func plainIPv4[T string | []byte](host T) bool {
	numbers, n, digits := 0, 0, 0
	for i := range len(host) + 1 {
		switch {
		case i == len(host) || host[i] == '.':
			if digits == 0 || n > 255 {
				return false
			}
			numbers, n, digits = numbers+1, 0, 0
		case host[i] < '0' || host[i] > '9' || digits == 3 || digits > 0 && n == 0:
			return false
		default:
			n, digits = 10*n+int(host[i]-'0'), digits+1
		}
	}
	return numbers == 4
}

// plainHost reports whether the host is a domain name that the standard's parser leaves as it is: labels
// of lower-case letters, digits and single hyphens, the last of which begins with a letter and is thus
// no number.
func plainHost[T string | []byte](host T) bool {
	last := byte('.')
	top := byte(0)
	for i := range len(host) {
		c := host[i]
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			if last == '.' {
				top = c
			}
		case c == '.' || c == '-':
			if last == '.' || last == '-' {
				return false
			}
		default:
			return false
		}
		last = c
	}
	return last != '.' && last != '-' && top >= 'a'
}
