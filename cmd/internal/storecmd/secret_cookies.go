package storecmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/credentials"
)

// cookiesOf turns what browsers and curl keep in a cookies.txt into the value of a Cookie field. Other
// values stay as they are.
func cookiesOf(kind credentials.Kind, value string, bounds credentials.Bounds) (string, error) {
	if kind != credentials.KindCookie || !strings.Contains(value, "\t") {
		return value, nil
	}
	if len(bounds.Hosts) == 0 {
		return "", errors.New("a cookies.txt holds cookies of many hosts: --host says which are meant")
	}
	return cookieField(value, bounds, time.Now())
}

// cookieField returns the cookies of a file that are for one of the hosts and not expired. A line is a
// domain, whether hosts under it are meant, a path, whether https is wanted, when it expires (0: with the
// session), a name and a value, with tabs between; those that begin with # are comments, but for
// #HttpOnly_.
func cookieField(file string, bounds credentials.Bounds, now time.Time) (string, error) {
	var field []string
	for i, line := range strings.Split(file, "\n") {
		line = strings.TrimPrefix(strings.TrimSuffix(line, "\r"), "#HttpOnly_")
		if line == "" || line[0] == '#' {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 7 {
			return "", fmt.Errorf("line %d of the cookies.txt has %d columns and not 7", i+1, len(columns))
		}
		expires, err := strconv.ParseInt(columns[4], 10, 64)
		if err != nil {
			return "", fmt.Errorf("line %d of the cookies.txt has no time in column 5", i+1)
		}
		if wanted(bounds, columns[0], columns[1] == "TRUE") && (expires == 0 || expires > now.Unix()) {
			field = append(field, columns[5]+"="+columns[6])
		}
	}
	if len(field) == 0 {
		return "", errors.New("the cookies.txt holds no cookie of these hosts that has not expired")
	}
	return strings.Join(field, "; "), nil
}

// wanted reports whether a cookie of a domain goes to one of the hosts.
func wanted(bounds credentials.Bounds, domain string, under bool) bool {
	domain = strings.ToLower(strings.TrimPrefix(domain, "."))
	if bounds.Admit(domain) {
		return true
	}
	for _, host := range bounds.Hosts {
		name, _, _ := strings.Cut(strings.TrimPrefix(host, "*."), ":")
		if name == domain || under && strings.HasSuffix(name, "."+domain) {
			return true
		}
	}
	return false
}
