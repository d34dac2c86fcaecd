# Makes the completion for bash: gpnn.bash with what the program 'options' prints.
#
#   awk -f bash.awk TABLE gpnn.bash
BEGIN { FS = "\t" }
FILENAME == ARGV[1] && $2 == "operands" {
  command[++n] = $1
  table[$1] = "|" $3 "|" $4
  if ($1 !~ / /) tools = tools " " $1
}
FILENAME == ARGV[1] && $2 == "option" {
  table[$1] = table[$1] "\n" $3 "|" $4 "|" $5 "|" $6
}
FILENAME == ARGV[1] { next }
/@TABLES@/ {
  for (i = 1; i <= n; i++) printf "  [\047%s\047]=\047%s\047\n", command[i], table[command[i]]
  next
}
{ sub(/ @TOOLS@/, tools); print }
