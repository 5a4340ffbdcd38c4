"""What developers call the same thing in Portuguese and in English, where the two words do not meet by themselves (pure).

Made by hand for this project. Words that the analyzer or `translation` brings together ("arquitetura", "opção") need no
entry; a word with several meanings has the two or three that software gives it.
"""

from __future__ import annotations

from typing import Final

PAIRS: Final = """
abaixo: below; abrir, abertura: open; achar, encontrar, encontrado: find, found; achatar: flatten; acima: above;
adicionar, acrescentar: add; agendador: scheduler; agendar, agendamento, agenda: schedule;
agrupar, agrupamento: group, cluster; aguardar: await, wait; ajuda: help; ajustar, ajuste: adjust, tune;
aleatório: random; alterar, alteração: change, modify; alto: high, tall; altura: height; alvo: target;
ambiente: environment, env; analisador: parser, analyzer; analisar, análise: parse, analyze, analysis;
andamento: progress; anexar: attach, append; anexo: attachment; anotação: annotation, note; anterior: previous;
antigo: old; apagar, excluir, exclusão: delete, erase; apelido: alias; aprendizado: learning;
armazenamento: storage, store; armazenar: store; arquivo: file; arredondar: round; árvore: tree; aspas: quote;
assinante: subscriber; assinar: sign, subscribe; assinatura: signature, subscription; assíncrono: async;
atalho: shortcut; ativar, habilitar: enable, activate; atraso: delay;
atualizar, atualização: update, upgrade, refresh; ausente, faltar, faltando: missing; autocompletar: completion;
avisar: warn; aviso: warning; baixar: download; baixo: low; banco de dados: database; banco: database; barra: slash;
barramento: bus; biblioteca: library; bloquear, bloqueio: lock; boleto: invoice; borda: edge; botão: button;
buscar, busca, pesquisa, pesquisar, procurar: search, find, lookup; cabeçalho: header, heading;
cadastro, cadastrar: registration, register; cadeado: lock; cadeia: string, chain; caixa: box;
calcular, cálculo: compute; camada: layer; caminho: path; campo: field; canal: channel; capturar: catch;
carregar, carregamento: load; carrinho: cart; cartão: card; chamar, chamada: call; chave: key; chaves: brace;
cheio: full; cliente: customer; cobrança: billing, charge; código: code; colar: paste; coleta: gather; coluna: column;
começar, começo: start, begin; comentário: comment; comparar: compare; compartilhar, compartilhado: share, shared;
compra: purchase; comprimento: length; comum: common; concluir, conclusão: complete, finish;
conexão, conectar: connection, connect; conferir: check;
configurar, configuração: configure, configuration, config, settings; conjunto: set;
construir, construção: build, construct; construtor: builder; consulta, consultar: query, lookup;
consumidor: consumer; conta: account; contador: counter; contar, contagem: count; conteúdo: content;
contorno: outline, workaround; cópia de segurança: backup; cópia, copiar: copy; cor: color; corpo: body;
corretor: broker; corrigir, correção, consertar: fix, correct; corrompido, danificado: damaged, corrupt;
cortar: cut, trim, truncate; crescente: ascending, increasing; criar, criação: create; criptografar: encrypt;
criptografia: encryption, crypto; dados, dado: data; decodificar: decode; decrescente: descending; definir: set;
dentro: inside, within; depurar, depuração: debug; desativar, desabilitar: disable; descarregar: unload;
descartar: discard, drop; desconhecido: unknown; descontinuado: deprecated; desconto: discount;
desempenho: performance; desenho: design, drawing; desfazer: undo, rollback; desligar: shutdown, disable;
destino: target; devolver: return; dica: hint, tip; dicionário: dictionary, dict; diferença: difference, diff;
direita: right; disjuntor: breaker; disparar: trigger, fire; dividir, divisão: split, divide;
embrulhar, envolver: wrap; embutido: builtin, embedded; empacotar: package, bundle; empilhar: push; empresa: company;
encadear, encadeamento: chain, pipeline; encerrar, encerramento: shutdown, close, terminate; endereço: address;
entrada: input, entry; entregar, entrega: deliver, delivery; enviar, envio: send, submit; equipe: team; erro: error;
escolha, escolher: choice, choose; esconder, ocultar, oculto: hide, hidden; escrever, escrita: write;
escutar, ouvir: listen; espelho: mirror; espera, esperar: wait; esquecer: forget; esquerda: left;
estado: state, status; estender: extend; estoque: inventory; etapa: step, stage; etiqueta: tag, label;
evitar: avoid, prevent; executar, execução, rodar: run, execute, execution; executor: runner; exemplo: example;
exibir, mostrar: show, display; exigir: require; expirar, expiração, vencimento: expire, expiration, expiry;
extrair: extract; falha, falhar: failure, fail; fatura: invoice; fechar, fechado: close, closed; ferramenta: tool;
fila: queue; filho: child; filtro, filtrar: filter; fio: thread; fluxo: flow, stream; folha: leaf, sheet;
fonte: source; fora: outside; formulário: form; fornecedor, provedor: provider, supplier, vendor; frase: sentence;
frete: shipping; função: function; funcionalidade: feature; funcionário: employee; fundo: background; gancho: hook;
gerador: generator; gerar, geração: generate, generation; gerenciador, gerente: manager;
gerenciar, gerenciamento: manage, management; gravar, salvar: save, write; guardar: store, keep; herança: inheritance;
hospedar: host; igual: equal; impedir: prevent; implantar, implantação: deploy, deployment; imposto: tax;
imprimir, impressão: print; incluir: include; indexar, indexação: index, indexing; índice: index;
inesperado: unexpected; iniciar, início: start, init; inserir: insert; inteiro: integer, int; intervalo: range;
irmão: sibling; janela: window; juntar: join, merge; laço: loop; lançamento: release, launch;
lançar: throw, raise, release; largura: width; leitor: reader; lembrar: remember; lento: slow; ler, leitura: read;
letra: letter; leve: light; ligação, vínculo: link, binding; ligar: link, enable; limite: threshold;
limpar, limpeza: clear, clean, cleanup; linguagem, idioma, língua: language; linha: line, row; lote: batch;
maior: greater, larger; manipulador, tratador: handler; manter: keep, maintain; marcador: marker, bookmark;
média: average, mean; medir, medida: measure, metric; melhorar, melhoria: improve, improvement; menor: smaller, less;
mensagem: message; mesclar, mesclagem: merge; molde: template; montar: mount, assemble; morto: dead;
mudança, mudar: change; navegador: browser; navegar, navegação: navigate, navigation; negar: deny; nível: level;
nome: name; nota fiscal: invoice; novo: new; número: number; nuvem: cloud; obrigatório: required, mandatory;
observador: watcher; observar, vigiar: watch, observe; obsoleto: deprecated;
obter, pegar, recuperar: get, fetch, retrieve; ordem, ordenar, ordenação: order, sort; origem: origin, source;
ouvinte: listener; pacote: package, packet; padrão: default, pattern, standard; pagamento, pagar: payment, pay;
página: page; pai: parent; painel: dashboard, panel; palavra: word; papel: role; parar, parada: stop; passo: step;
pasta: folder, directory; pedaço: chunk, piece; pedido: request, order; perdido: lost; perfil: profile;
pergunta: question; permitir, permitido: allow, allowed; pesado: heavy; peso: weight; pilha: stack; ponte: bridge;
ponteiro: pointer; ponto de entrada: entrypoint, entry; ponto: point, dot; pontuação: score; porta: door;
prazo: deadline, timeout; precisar: need; preço: price; preencher, preenchimento: fill, padding; prévia: preview;
primeiro: first; proibido: forbidden; pronto: ready; próprio: custom; próximo: next; publicar, publicação: publish;
quantidade: quantity, amount, count; quebra, quebrar: break, wrap; quebrado: broken; raiz: root; ramo: branch;
rápido: fast, quick; rascunho: draft; rastrear, rastreamento: trace, track, tracking; receber: receive;
recolher: collapse, collect; recuo: indent; recurso: resource, feature; rede: network; redutor: reducer;
reescrever: rewrite; registrar: register, log; registro de mudanças: changelog; registro: record, log; regra: rule;
relatório: report; relógio: clock; renomear: rename; repetir: repeat, retry; requisição, solicitação: request;
resposta: response, reply; restaurar: restore; resumo: summary, digest; retentativa: retry; retorno, retornar: return;
reunião: meeting; reverter: rollback; rodapé: footer; rota: route; roteador: router; roteamento: routing;
rótulo: label; saída: output, exit; sair: exit, quit, logout; salto: jump, hop; segredo: secret; segurança: security;
seguro: secure, safe; semelhança, similaridade: similarity; semelhante: similar; semente: seed; senha: password;
servidor: server; sessão: session; simples: simple, plain; situação: status; sobrescrever: overwrite, override;
soma, somar: sum, add; subir: upload, start; substituir, substituição: replace; tabela: table; tamanho: size;
tarefa: task, job; tecla: key; teclado: keyboard; tela: screen; tempo de execução: runtime; tempo limite: timeout;
tempo: time; tentar, tentativa: try, attempt, retry; tipo: type; título: title; trabalhador: worker;
trabalho: work, job; tradução, traduzir: translation, translate; tratar, tratamento: handle, handling;
trava, travar: lock; trecho: snippet, excerpt, chunk; treino, treinamento, treinar: training, train;
trocar, troca: swap, exchange, replace; último: last; único: single; unir: join, union; usuário: user; valor: value;
variável: variable; vazio: empty; velocidade: speed; venda: sale; verdadeiro: true;
verificar, verificação: check, verify, verification; versão: version; vetor: array; vírgula: comma;
visão: view, overview; vista: view; vivo: alive, live; vizinho: neighbor; volta: back, return
"""
"""Entries, parted by semicolons: words or phrases of one meaning in Portuguese, a colon, those in English, best first."""
