// Reads what Hermit signed and proved, with Go's own sumdb/note and sumdb/tlog, and signs a note in return.
// Run in a folder with the files note, vkey and proofs; see stock_go.rs.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must(err error) {
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
}

func hash(text string) (h tlog.Hash) {
	bytes, err := hex.DecodeString(text)
	must(err)
	copy(h[:], bytes)
	return h
}

func hashes(text string) (all []tlog.Hash) {
	for _, one := range strings.Split(text, ",") {
		if one != "" {
			all = append(all, hash(one))
		}
	}
	return all
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	must(err)
	return n
}

func openNote() {
	vkey, err := os.ReadFile("vkey")
	must(err)
	verifier, err := note.NewVerifier(string(vkey))
	must(err)
	signed, err := os.ReadFile("note")
	must(err)
	opened, err := note.Open(signed, note.VerifierList(verifier))
	must(err)
	lines := strings.Split(opened.Text, "\n")
	fmt.Println("opened", lines[0], lines[1])
}

// Lines: record size index leaf root path, or tree old new oldroot newroot path.
func checkProofs() {
	file, err := os.Open("proofs")
	must(err)
	accepted, wrong := 0, 0
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		f := strings.Split(scanner.Text(), " ")
		a, b, first, second, path := number(f[1]), number(f[2]), hash(f[3]), hash(f[4]), hashes(f[5])
		check := func(second tlog.Hash) error {
			if f[0] == "record" {
				return tlog.CheckRecord(tlog.RecordProof(path), a, second, b, first)
			}
			return tlog.CheckTree(tlog.TreeProof(path), b, second, a, first)
		}
		must(check(second))
		accepted++
		second[0] ^= 1
		if check(second) == nil {
			wrong++
		}
	}
	fmt.Println("proofs", accepted, "wrong", wrong)
}

func signNote() {
	skey, vkey, err := note.GenerateKey(rand.Reader, "go.example/signer")
	must(err)
	signer, err := note.NewSigner(skey)
	must(err)
	text := tlog.FormatTree(tlog.Tree{N: 7, Hash: tlog.RecordHash([]byte("from go"))})
	signed, err := note.Sign(&note.Note{Text: string(text)}, signer)
	must(err)
	must(os.WriteFile("go.vkey", []byte(vkey), 0o600))
	must(os.WriteFile("go.note", signed, 0o600))
}

func main() {
	openNote()
	checkProofs()
	signNote()
}
