package hostile

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace/internal/testutil"
)

// pdf is a case of a site that has a file for a PDF, whose text cannot be read for a reason, or not whole.
func pdf(name, does, counter string, file []byte) Case {
	return Case{
		Name: name, Does: does,
		Lay:    func(s *Site) { s.handle("/bad.pdf", body("application/pdf", file)) },
		Expect: Expect{Counters: some{"pages": 1, "normalize." + counter: 1}, Why: says{"/bad.pdf": "its text was not read, or not whole"}, Asked: 1},
	}
}

var pdfs = []Case{
	pdf("pdf-cut", "has the first half of a PDF", "unread_broken", wholePDF[:len(wholePDF)/2]),
	pdf("pdf-encrypted", "has a PDF that needs a password", "unread_encrypted", encryptedPDF()),
	pdf("pdf-mislabelled", "has a page in HTML for a PDF", "unread_broken", []byte("<html><p>No such file")),
	pdf("pdf-of-a-million-pages", "has a PDF that says it has a million pages", "unread_over_limit", bytes.ReplaceAll(wholePDF, []byte("/Count 1"), []byte("/Count 1000000"))),
	pdf("pdf-of-itself", "has a PDF whose pages are within one another", "unread_broken", bytes.ReplaceAll(wholePDF, []byte("/Kids [3 0 R ]"), []byte("/Kids [1 0 R ]"))),
}

var wholePDF = testutil.WritePDF("A file", testutil.PDFText("Some words"))

func encryptedPDF() []byte {
	f := &testutil.PDFFile{}
	key := strings.Repeat("ab", 32)
	f.Add("<< /Type /Pages /Count 0 /Kids [] >>")
	return f.Bytes(f.Add("<< /Type /Catalog /Pages 1 0 R >>"), 0,
		"/ID [<00><00>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <"+key+"> /U <"+key+"> >>")
}
