/** Returns a line that GitHub Actions shows as an annotation. */
export function githubAnnotation(kind: "error" | "notice", title: string, message: string): string {
  const escaped = (text: string) =>
    text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = escaped(title).replaceAll(":", "%3A").replaceAll(",", "%2C");
  return `::${kind} title=${property}::${escaped(message)}`;
}
